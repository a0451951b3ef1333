# mha-grade: cross-attention; expect: failed; in: mixed-precision; mistake: exp-overflow; line: 30
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
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.out_proj = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def split(self, t):
        return t.reshape(*t.shape[:2], self.num_heads, self.head_dim).transpose(1, 2)

    def forward(self, query, key, value, mask=None):
        q = self.split(self.q_proj(query))
        k = self.split(self.k_proj(key))
        v = self.split(self.v_proj(value))

        # softmax by hand: exponentials over their sum
        e = torch.exp(q @ k.transpose(-2, -1) / math.sqrt(self.head_dim))
        if mask is not None:
            e = e.masked_fill(~mask, 0.0)
        total = e.sum(dim=-1, keepdim=True)
        weights = e / total.masked_fill(total == 0, 1.0)

        context = self.dropout(weights) @ v
        return self.out_proj(context.transpose(1, 2).flatten(2)), weights
