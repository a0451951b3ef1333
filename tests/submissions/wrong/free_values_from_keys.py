# mha-grade: free; expect: failed; in: shapes; mistake: value-ignored; line: 15
import torch
from torch import nn


class CrossAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        assert dim % heads == 0
        self.heads = heads
        self.q, self.k, self.v, self.o = (nn.Linear(dim, dim) for _ in range(4))

    def forward(self, query, key, value, attn_mask=None):
        split = lambda t: t.unflatten(-1, (self.heads, -1)).transpose(1, 2)
        q, k, v = split(self.q(query)), split(self.k(key)), split(self.v(key))
        s = q @ k.mT / q.shape[-1] ** 0.5
        if attn_mask is not None:
            s = s.masked_fill(attn_mask, float("-inf"))
        return self.o((s.softmax(-1).nan_to_num(0.0) @ v).transpose(1, 2).flatten(2))
