# mha-grade: self-attention; expect: passed
from __future__ import annotations
import math
import torch
from torch import nn, Tensor
import torch.nn.functional as F


def safe(scores, mask):
    if mask is None:
        return scores.softmax(-1)
    scores = scores.masked_fill(mask.logical_not(), torch.finfo(scores.dtype).min)
    return scores.softmax(-1) * mask


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads: raise ValueError("no")
        dh = d_model // num_heads
        self.heads = nn.ModuleList(nn.Linear(d_model, 3 * dh) for _ in range(num_heads))
        self.o = nn.Linear(d_model, d_model)
        self.p = dropout
    def forward(self, x, mask=None):
        q, k, v = torch.stack([h(x) for h in self.heads], 1).chunk(3, -1)
        w = safe(q @ k.transpose(-1, -2) / q.size(-1) ** 0.5, mask)
        c = F.dropout(w, self.p, self.training) @ v
        return self.o(c.transpose(1, 2).flatten(2)), w
