# mha-grade: cross-attention; expect: failed; in: padding-mask; mistake: mask-after-softmax; line: 27
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
        B, Lq, D = query.shape
        q = self.W_q(query).view(B, Lq, self.num_heads, self.head_dim).transpose(1, 2)
        k = self.W_k(key).view(B, key.size(1), self.num_heads, self.head_dim).transpose(1, 2)
        v = self.W_v(value).view(B, value.size(1), self.num_heads, self.head_dim).transpose(1, 2)

        weights = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(self.head_dim), dim=-1)
        if mask is not None:
            weights = weights * mask.to(weights.dtype)
        context = (self.dropout(weights) @ v).transpose(1, 2).contiguous()
        return self.W_o(context.view(B, Lq, D)), weights
