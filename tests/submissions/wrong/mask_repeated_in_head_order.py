# mha-grade: cross-attention; expect: failed; in: padding-mask; mistake: mask-in-order-of-heads; line: 37
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
        self.linear_q = nn.Linear(d_model, d_model)
        self.linear_k = nn.Linear(d_model, d_model)
        self.linear_v = nn.Linear(d_model, d_model)
        self.linear_o = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def fold(self, t):
        b, l, _ = t.shape
        t = t.reshape(b, l, self.num_heads, self.head_dim).permute(0, 2, 1, 3)
        return t.reshape(b * self.num_heads, l, self.head_dim)

    def forward(self, query, key, value, mask=None):
        b, lq, d = query.shape
        lk = key.size(1)
        q = self.fold(self.linear_q(query))
        k = self.fold(self.linear_k(key))
        v = self.fold(self.linear_v(value))

        scores = torch.bmm(q, k.transpose(1, 2)) / math.sqrt(self.head_dim)
        if mask is not None:
            if mask.dim() == 4 and mask.size(1) == 1:
                # the same for all heads: one copy per head
                mask = mask.squeeze(1).expand(b, lq, lk).repeat(self.num_heads, 1, 1)
            else:
                mask = mask.expand(b, self.num_heads, lq, lk).reshape(-1, lq, lk)
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = scores.softmax(dim=-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)

        y = torch.bmm(self.dropout(weights), v).view(b, self.num_heads, lq, self.head_dim)
        y = y.permute(0, 2, 1, 3).reshape(b, lq, d)
        return self.linear_o(y), weights.view(b, self.num_heads, lq, lk)
