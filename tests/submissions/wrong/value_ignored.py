# mha-grade: cross-attention; expect: failed; in: cross-attention; mistake: value-ignored; line: 24/28
import math

import torch
from torch import nn


class CrossAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("d_model must be divisible by num_heads")
        self.num_heads = num_heads
        self.head_dim = d_model // num_heads
        self.to_q = nn.Linear(d_model, d_model)
        self.to_k = nn.Linear(d_model, d_model)
        self.to_v = nn.Linear(d_model, d_model)
        self.to_out = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        # keys and values both come from the encoder output
        memory = key
        b, lq, d = query.shape
        lk = memory.size(1)
        q = self.to_q(query).view(b, lq, self.num_heads, self.head_dim).transpose(1, 2)
        k = self.to_k(memory).view(b, lk, self.num_heads, self.head_dim).transpose(1, 2)
        v = self.to_v(memory).view(b, lk, self.num_heads, self.head_dim).transpose(1, 2)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = scores.softmax(dim=-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)
        context = (self.dropout(weights) @ v).transpose(1, 2).reshape(b, lq, d)
        return self.to_out(context), weights
