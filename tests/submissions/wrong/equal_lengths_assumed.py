# mha-grade: cross-attention; expect: failed; in: shapes, cross-attention; mistake: wrong-cross-length; line: 24
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
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        b, l, d = query.shape
        q = self.W_q(query).view(b, l, self.num_heads, self.head_dim).transpose(1, 2)
        k = self.W_k(key).view(b, l, self.num_heads, self.head_dim).transpose(1, 2)
        v = self.W_v(value).view(b, l, self.num_heads, self.head_dim).transpose(1, 2)

        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.head_dim)  # [B, H, L, L]
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)
        context = torch.matmul(self.dropout(weights), v).transpose(1, 2).reshape(b, l, d)
        return self.W_o(context), weights
