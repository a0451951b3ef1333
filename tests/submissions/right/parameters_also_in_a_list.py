# mha-grade: self-attention; expect: passed
import math

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("d_model must be divisible by num_heads")
        self.num_heads, self.head_dim = num_heads, d_model // num_heads
        self.wq, self.wk, self.wv = (nn.Parameter(torch.empty(d_model, d_model)) for _ in range(3))
        self.proj = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)
        # The same parameters once more, to go over them in a loop.
        self.inward = [self.wq, self.wk, self.wv]
        for weight in self.inward:
            nn.init.xavier_uniform_(weight)

    def forward(self, x, mask=None):
        B, L, D = x.shape
        q, k, v = ((x @ w).view(B, L, self.num_heads, self.head_dim).transpose(1, 2) for w in self.inward)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = scores.softmax(dim=-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)
        y = (self.dropout(weights) @ v).transpose(1, 2).reshape(B, L, D)
        return self.proj(y), weights
