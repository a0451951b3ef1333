# mha-grade: free; expect: failed; in: scaling; mistake: scale-by-head-dim; line: 24
import torch
from torch import nn


class TimeSeriesAttention(nn.Module):
    """Length first, then batch, then features; kv is the longer history."""

    def __init__(self, features, nhead, dropout=0.0):
        super().__init__()
        if features % nhead:
            raise ValueError("nhead")
        self.nhead = nhead
        self.query = nn.Linear(features, features)
        self.key = nn.Linear(features, features)
        self.value = nn.Linear(features, features)
        self.combine = nn.Linear(features, features)
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, kv):
        q = self.query(query).unflatten(-1, (self.nhead, -1))
        k = self.key(kv).unflatten(-1, (self.nhead, -1))
        v = self.value(kv).unflatten(-1, (self.nhead, -1))
        e = torch.einsum("qbhd,kbhd->bhqk", q, k) / q.shape[-1]
        y = torch.einsum("bhqk,kbhd->qbhd", self.dropout(e.softmax(-1)), v)
        return self.combine(y.flatten(2))
