# mha-grade: free; expect: failed; in: scaling; mistake: scale-multiplied; line: 14/26
import math

import torch
from torch import nn


class Attn(nn.Module):
    def __init__(self, *, heads: int = 8, dim: int = 512, drop: float = 0.0):
        super().__init__()
        if dim % heads:
            raise ValueError("dim must be a multiple of heads")
        self.heads = heads
        self.scale = math.sqrt(dim // heads)
        self.wv = nn.Linear(dim, dim, bias=False)
        self.wk = nn.Linear(dim, dim, bias=False)
        self.wq = nn.Linear(dim, dim, bias=False)
        self.wo = nn.Linear(dim, dim)
        self.drop = nn.Dropout(drop)

    def forward(self, memory, query):
        def split(t):
            return t.unflatten(-1, (self.heads, -1)).transpose(1, 2)

        q, k, v = split(self.wq(query)), split(self.wk(memory)), split(self.wv(memory))
        probs = torch.softmax((q @ k.mT) * self.scale, dim=-1)
        return self.wo((self.drop(probs) @ v).transpose(1, 2).flatten(2)), None
