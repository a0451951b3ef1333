# mha-grade: self-attention; expect: failed; in: non-contiguous; mistake: view-on-non-contiguous; line: 23
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

    def forward(self, x, mask=None):
        b, l, d = x.shape
        tokens = x.view(b * l, d)  # one flat matrix multiplication for all tokens
        q = self.q_proj(tokens).view(b, l, self.num_heads, self.head_dim).transpose(1, 2)
        k = self.k_proj(tokens).view(b, l, self.num_heads, self.head_dim).transpose(1, 2)
        v = self.v_proj(tokens).view(b, l, self.num_heads, self.head_dim).transpose(1, 2)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = scores.softmax(dim=-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)
        context = (self.dropout(weights) @ v).transpose(1, 2).reshape(b * l, d)
        return self.out_proj(context).view(b, l, d), weights
