# mha-grade: self-attention; expect: passed
from __future__ import annotations
import math
import torch
from torch import nn
import torch.nn.functional as F


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("d_model must be divisible by num_heads")
        self.d_model, self.num_heads, self.head_dim = d_model, num_heads, d_model // num_heads
        self.p = dropout
        self.w_in = nn.Parameter(torch.randn(3, d_model, d_model) / d_model ** 0.5)
        self.b_in = nn.Parameter(torch.zeros(3, 1, d_model))
        self.out_proj = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        query = key = value = x
        B, L, D = query.shape
        S = key.shape[1]
        H, Dh = self.num_heads, self.head_dim
        q = (query @ self.w_in[0] + self.b_in[0]).reshape(B, L, H, Dh).transpose(1, 2)
        k = (key @ self.w_in[1] + self.b_in[1]).reshape(B, S, H, Dh).transpose(1, 2)
        v = (value @ self.w_in[2] + self.b_in[2]).reshape(B, S, H, Dh).transpose(1, 2)
        scores = (q / math.sqrt(Dh)) @ k.transpose(-2, -1)
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)
        dropped = self.dropout(weights)
        context = dropped @ v
        out = self.out_proj(context.transpose(1, 2).reshape(B, L, D))
        return out, weights
