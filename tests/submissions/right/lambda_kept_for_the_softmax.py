# mha-grade: cross-attention; expect: passed
import math

import torch
from torch import nn


class CrossAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"{d_model} is no multiple of {num_heads}")
        self.num_heads = num_heads
        self.q, self.k, self.v, self.o = (nn.Linear(d_model, d_model) for _ in range(4))
        self.drop = nn.Dropout(dropout)
        self.normalise = lambda scores: scores.softmax(dim=-1)

    def forward(self, query, key, value, mask=None):
        split = lambda t: t.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
        q, k, v = split(self.q(query)), split(self.k(key)), split(self.v(value))
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        if mask is None:
            weights = self.normalise(scores)
        else:
            filled = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
            weights = self.normalise(filled).masked_fill(~mask, 0.0)
        return self.o((self.drop(weights) @ v).transpose(1, 2).flatten(2)), weights
