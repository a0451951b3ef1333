# mha-grade: free; expect: failed; in: scaling; mistake: scale-by-sqrt-d-model
import torch
from torch import nn


class MultiQueryAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        assert dim % heads == 0
        self.heads, self.head_dim = heads, dim // heads
        self.q = nn.Linear(dim, dim)
        self.k = nn.Linear(dim, self.head_dim)
        self.v = nn.Linear(dim, self.head_dim)
        self.o = nn.Linear(dim, dim)

    def forward(self, x):
        b, n, d = x.shape
        q = self.q(x).view(b, n, self.heads, self.head_dim).transpose(1, 2)
        k, v = self.k(x).unsqueeze(1), self.v(x).unsqueeze(1)
        w = (q @ k.transpose(-1, -2) / d**0.5).softmax(-1)
        return self.o((w @ v).transpose(1, 2).reshape(b, n, d))
