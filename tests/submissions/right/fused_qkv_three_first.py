# mha-grade: self-attention; expect: passed
import math

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int, dropout: float = 0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("d_model must be divisible by num_heads")
        self.num_heads = num_heads
        self.head_dim = d_model // num_heads
        self.qkv = nn.Linear(d_model, 3 * d_model)
        self.proj = nn.Linear(d_model, d_model)
        self.attn_drop = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        b, l, d = x.shape
        # rows of the fused projection: [3, H, Dh]
        qkv = self.qkv(x).reshape(b, l, 3, self.num_heads, self.head_dim)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)  # each [B, H, L, Dh]

        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = scores.softmax(dim=-1)
        if mask is not None:
            # a row that sees nothing is uniform after softmax, so clear it
            weights = weights.masked_fill(~mask, 0.0)
        weights = self.attn_drop(weights)

        context = (weights @ v).transpose(1, 2).reshape(b, l, d)
        return self.proj(context), weights
