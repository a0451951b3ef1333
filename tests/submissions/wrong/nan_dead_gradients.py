# mha-grade: self-attention; expect: failed; in: all-masked-rows; mistake: nan-dead-gradients; line: 29
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
        return t.reshape(t.size(0), t.size(1), self.num_heads, self.head_dim).transpose(1, 2)

    def forward(self, x, mask=None):
        q, k, v = self.split(self.q_proj(x)), self.split(self.k_proj(x)), self.split(self.v_proj(x))
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        if mask is not None:
            bias = torch.zeros_like(mask, dtype=scores.dtype)
            scores = scores + bias.masked_fill(~mask, float("-inf"))
        weights = scores.softmax(dim=-1)
        # rows with no visible key come out as NaN; they should be 0
        weights = torch.nan_to_num(weights, nan=0.0)
        context = self.dropout(weights) @ v
        return self.out_proj(context.transpose(1, 2).flatten(2)), weights
