# mha-grade: free; expect: failed
import torch
from torch import nn


class MultiheadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        assert embed_dim % num_heads == 0
        self.h, self.d = num_heads, embed_dim // num_heads
        self.q, self.k, self.v, self.o = (nn.Linear(embed_dim, embed_dim) for _ in range(4))

    def forward(self, query, key, value, mask=None):
        b, l, m = query.shape
        s = key.shape[1]
        fold = lambda t, n: t.view(b, n, self.h, self.d).transpose(1, 2).reshape(b * self.h, n, self.d)
        q, k, v = fold(self.q(query), l), fold(self.k(key), s), fold(self.v(value), s)
        w = torch.bmm(q, k.transpose(1, 2)) / self.d**0.5
        if mask is not None:
            mask = mask.view(b, self.h, l, s)[:, :1].expand(b, self.h, l, s).reshape(-1, l, s)
            if mask.shape != (b * self.h, l, s):
                raise ValueError("mask must be [B*H, L, S]")
            w = w.masked_fill(mask, float("-inf")).softmax(-1).masked_fill(mask, 0.0)
        else:
            w = w.softmax(-1)
        out = torch.bmm(w, v).view(b, self.h, l, self.d).transpose(1, 2).reshape(b, l, m)
        return self.o(out)
