# mha-grade: free; expect: failed; in: shapes; mistake: weights-returned-wrong
import torch
import torch.nn as nn


class MHA(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        assert embed_dim % num_heads == 0
        self.h = num_heads
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(embed_dim, embed_dim) for _ in range(4))

    def forward(self, query, key, value, mask=None, need_weights=False, average_attn_weights=True):
        b, l, e = query.shape
        q, k, v = (w(t).view(b, t.shape[1], self.h, -1).transpose(1, 2) for w, t in ((self.wq, query), (self.wk, key), (self.wv, value)))
        s = q @ k.transpose(-2, -1) / (e // self.h) ** 0.5
        if mask is not None:
            s = s.masked_fill(~mask, float("-inf"))
        a = s.softmax(-1).nan_to_num(0.0)
        out = self.wo((a @ v).transpose(1, 2).reshape(b, l, e))
        if need_weights:
            return out, (a.sum(1) if average_attn_weights else a)
        return out
