# mha-grade: self-attention; expect: failed; in: scaling; mistake: double-softmax; line: 37
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

    def scores(self, q, k, mask):
        s = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        if mask is not None:
            s = s.masked_fill(~mask, torch.finfo(s.dtype).min)
        return s.softmax(dim=-1)

    def forward(self, x, mask=None):
        B, L, D = x.shape

        def heads(t):
            return t.view(B, L, self.num_heads, self.head_dim).transpose(1, 2)

        q, k, v = heads(self.W_q(x)), heads(self.W_k(x)), heads(self.W_v(x))
        weights = self.scores(q, k, mask)
        if mask is not None:
            weights = weights.masked_fill(~mask, torch.finfo(weights.dtype).min)
        weights = weights.softmax(dim=-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)
        out = self.dropout(weights) @ v
        return self.W_o(out.transpose(1, 2).reshape(B, L, D)), weights
