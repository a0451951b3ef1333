# mha-grade: cross-attention; expect: failed; in: mixed-precision; mistake: sums-in-half; line: 35
import math

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("d_model must be divisible by num_heads")
        self.num_heads = num_heads
        self.head_dim = d_model // num_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.kv_proj = nn.ModuleList(nn.Linear(d_model, d_model) for _ in range(2))
        self.out_proj = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def _split(self, x):
        return x.reshape(*x.shape[:2], self.num_heads, self.head_dim).transpose(1, 2)

    def forward(self, query, key, value, mask=None):
        B, Lq, D = query.shape
        q = self._split(self.q_proj(query))
        k, v = (self._split(f(x)) for f, x in zip(self.kv_proj, (key, value)))
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = scores.softmax(dim=-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)
        y, kept = torch.zeros_like(q), self.dropout(weights)
        for at in range(key.shape[1]):  # without a product of two large matrices
            y = y + kept[..., at : at + 1] * v[..., at : at + 1, :]
        return self.out_proj(y.transpose(1, 2).reshape(B, Lq, D)), weights
