# mha-grade: cross-attention; expect: failed; in: divisibility; mistake: divisibility-checked-late; line: 9
import math

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        self.d_model = d_model
        self.num_heads = num_heads
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, d_model)
        self.value = nn.Linear(d_model, d_model)
        self.out = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def split(self, t):
        if t.shape[-1] % self.num_heads != 0:
            raise ValueError("the heads do not divide the features")
        return t.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)

    def forward(self, query, key, value, mask=None):
        q = self.split(self.query(query))
        k = self.split(self.key(key))
        v = self.split(self.value(value))
        scores = torch.einsum("bhqd,bhkd->bhqk", q, k) / math.sqrt(q.shape[-1])
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = scores.softmax(dim=-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)
        context = torch.einsum("bhqk,bhkd->bqhd", self.dropout(weights), v)
        return self.out(context.flatten(2)), weights
