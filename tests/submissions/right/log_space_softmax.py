# mha-grade: cross-attention; expect: passed
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
        self.wq = nn.Linear(d_model, d_model)
        self.wk = nn.Linear(d_model, d_model)
        self.wv = nn.Linear(d_model, d_model)
        self.wo = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        q, k, v = self.wq(query), self.wk(key), self.wv(value)
        q, k, v = (t.unflatten(-1, (self.num_heads, -1)).transpose(1, 2) for t in (q, k, v))

        logits = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        # at least float32 for the normaliser, also inside a half-precision model
        logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
        if mask is not None:
            logits = logits.masked_fill(~mask, torch.finfo(logits.dtype).min)
        # w = exp(s - logsumexp(s)): never exponentiates a large number
        weights = (logits - torch.logsumexp(logits, dim=-1, keepdim=True)).exp()
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)
        weights = self.dropout(weights.to(v.dtype))

        context = (weights @ v).transpose(1, 2).flatten(2)
        return self.wo(context), weights
