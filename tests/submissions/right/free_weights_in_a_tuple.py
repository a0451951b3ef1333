# mha-grade: free; expect: passed
import math

import torch
from torch import nn


class TupleAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        assert dim % heads == 0
        self.heads = heads
        self.w_query = nn.Parameter(torch.randn(dim, dim) / dim**0.5)
        self.w_key = nn.Parameter(torch.randn(dim, dim) / dim**0.5)
        self.w_value = nn.Parameter(torch.randn(dim, dim) / dim**0.5)
        self.w_out = nn.Parameter(torch.randn(dim, dim) / dim**0.5)
        self.all = (self.w_query, self.w_key, self.w_value, self.w_out)

    def forward(self, x):
        *inward, outward = self.all
        q, k, v = ((x @ w).unflatten(-1, (self.heads, -1)).transpose(1, 2) for w in inward)
        weights = (q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])).softmax(dim=-1)
        return (weights @ v).transpose(1, 2).flatten(2) @ outward
