# mha-grade: self-attention; expect: failed; in: shapes; mistake: sequence-first; line: 28
import math

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    """x: [L, B, D], as in nn.MultiheadAttention with its defaults."""

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

    def forward(self, x, mask=None):
        l, b, d = x.shape
        q = self.q_proj(x).view(l, b, self.num_heads, self.head_dim).permute(1, 2, 0, 3)
        k = self.k_proj(x).view(l, b, self.num_heads, self.head_dim).permute(1, 2, 0, 3)
        v = self.v_proj(x).view(l, b, self.num_heads, self.head_dim).permute(1, 2, 0, 3)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = scores.softmax(dim=-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)
        context = self.dropout(weights) @ v
        return self.out_proj(context.permute(2, 0, 1, 3).reshape(l, b, d)), weights
