# mha-grade: free; expect: failed; in: combined-masks; mistake: mask-of-first-sample
import torch
import torch.nn as nn


class Attention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        assert d_model % num_heads == 0
        self.h = num_heads
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, query, key, value, mask=None):
        B, L, D = query.shape
        S = key.shape[1]
        q = self.wq(query).view(B, L, self.h, -1).transpose(1, 2)
        k = self.wk(key).view(B, S, self.h, -1).transpose(1, 2)
        v = self.wv(value).view(B, S, self.h, -1).transpose(1, 2)
        logits = q @ k.transpose(-1, -2) / (D // self.h) ** 0.5
        if mask is not None:
            if len(mask.shape) == 2:
                mask = mask[None, None]
            elif len(mask.shape) == 3:
                mask = mask[:1, None]
            logits = logits.masked_fill(~mask, float("-inf"))
        p = logits.softmax(-1).nan_to_num(0.0)
        return self.wo((p @ v).transpose(1, 2).reshape(B, L, D))
