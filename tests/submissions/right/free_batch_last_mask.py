# mha-grade: free; expect: passed
import math

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    """Sequence first throughout: inputs [L, B, D], mask [L_q, L_k, B], nonzero = may look."""

    def __init__(self, heads, d_model, dropout_prob=0.1):
        super().__init__()
        if d_model % heads:
            raise ValueError("heads must divide d_model")
        self.heads = heads
        self.d_k = d_model // heads
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, d_model)
        self.value = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout_prob)

    def split(self, x):
        return x.reshape(x.shape[0], x.shape[1], self.heads, self.d_k)

    def forward(self, *, query, key, value, mask=None):
        q = self.split(self.query(query))
        k = self.split(self.key(key))
        v = self.split(self.value(value))
        scores = torch.einsum("ibhd,jbhd->ijbh", q, k) / math.sqrt(self.d_k)
        if mask is not None:
            assert mask.shape[1] == key.shape[0]
            assert mask.shape[2] in (1, query.shape[1])
            hidden = (mask == 0).unsqueeze(-1)
            scores = scores.masked_fill(hidden, torch.finfo(scores.dtype).min)
            weights = scores.softmax(dim=1).masked_fill(hidden, 0.0)
        else:
            weights = scores.softmax(dim=1)
        x = torch.einsum("ijbh,jbhd->ibhd", self.dropout(weights), v)
        return self.output(x.reshape(query.shape[0], query.shape[1], -1))
