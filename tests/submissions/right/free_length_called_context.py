# mha-grade: free; expect: passed
import torch
from torch import nn


class CausalAttention(nn.Module):
    def __init__(self, dim, context, heads, p=0.0):
        super().__init__()
        if dim % heads:
            raise ValueError(f"dim={dim} is not a multiple of heads={heads}")
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)
        self.drop = nn.Dropout(p)
        self.register_buffer("mask", torch.full((context, context), float("-inf")).triu(1))

    def forward(self, x):
        b, n, d = x.shape
        if n > self.mask.shape[0]:
            raise ValueError("too long")
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        s = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5 + self.mask[:n, :n]
        return self.out((self.drop(s.softmax(-1)) @ v).transpose(1, 2).reshape(b, n, d))
