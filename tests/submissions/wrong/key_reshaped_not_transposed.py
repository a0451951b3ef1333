# mha-grade: cross-attention; expect: failed; in: shapes; mistake: key-reshaped-not-transposed; line: 28
import math

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("d_model must be divisible by num_heads")
        self.h = num_heads
        self.dh = d_model // num_heads
        self.q = nn.Linear(d_model, d_model)
        self.k = nn.Linear(d_model, d_model)
        self.v = nn.Linear(d_model, d_model)
        self.o = nn.Linear(d_model, d_model)
        self.drop = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        B, Lq, D = query.shape
        Lk = key.shape[1]
        q = self.q(query).view(B, Lq, self.h, self.dh).transpose(1, 2)
        k = self.k(key).view(B, Lk, self.h, self.dh).transpose(1, 2)
        v = self.v(value).view(B, Lk, self.h, self.dh).transpose(1, 2)
        # [B, H, Lq, Dh] x [B, H, Dh, Lk]
        scores = q @ k.reshape(B, self.h, self.dh, Lk) / math.sqrt(self.dh)
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        w = scores.softmax(dim=-1)
        if mask is not None:
            w = w.masked_fill(~mask, 0.0)
        y = self.drop(w) @ v
        return self.o(y.transpose(1, 2).reshape(B, Lq, D)), w
