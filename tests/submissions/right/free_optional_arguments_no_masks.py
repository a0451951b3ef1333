# mha-grade: free; expect: passed
import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        assert dim % heads == 0
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)

    def forward(self, x, temperature=None, gates=None, rope=None):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        if rope is not None:
            q, k = rope(q), rope(k)
        s = q @ k.mT * (q.shape[-1] ** -0.5 if temperature is None else temperature)
        p = s.softmax(-1)
        if gates is not None:
            p = p * gates
        return self.out((p @ v).transpose(1, 2).flatten(2))
