# mha-grade: free; expect: failed; in: state; mistake: parameters-not-registered; line: 22
import torch
from torch import nn


class Head(nn.Module):
    def __init__(self, dim, head_size):
        super().__init__()
        self.query = nn.Linear(dim, head_size, bias=False)
        self.key = nn.Linear(dim, head_size, bias=False)
        self.value = nn.Linear(dim, head_size, bias=False)

    def forward(self, x):
        q, k, v = self.query(x), self.key(x), self.value(x)
        return (q @ k.transpose(-2, -1) / q.size(-1) ** 0.5).softmax(-1) @ v


class MultiHead(nn.Module):
    def __init__(self, num_heads, dim):
        super().__init__()
        assert dim % num_heads == 0
        self.heads = [Head(dim, dim // num_heads) for _ in range(num_heads)]
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        return self.proj(torch.cat([h(x) for h in self.heads], dim=-1))
