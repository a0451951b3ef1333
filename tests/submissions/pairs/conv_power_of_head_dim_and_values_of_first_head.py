# mha-grade: self-attention; expect: failed; in: shapes, scaling; mistake: first-head-shared, scale-by-another-power; line: 28, 27
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


class ConvAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads: raise ValueError("no")
        self.n = num_heads
        self.q, self.k, self.v, self.o = (nn.Conv1d(d_model, d_model, 1) for _ in range(4))
        self.drop = nn.Dropout(dropout)
    def forward(self, x, mask=None):
        B, L, D = x.shape
        y = x.transpose(1, 2)
        q, k, v = (f(y).view(B, self.n, D // self.n, L) for f in (self.q, self.k, self.v))
        a = safe(torch.einsum("bhdq,bhdk->bhqk", q, k) / (D // self.n) ** 1.5, mask)
        c = torch.einsum("bhqk,bhdk->bhdq", self.drop(a), v[:, :1].expand_as(v)).reshape(B, D, L)
        return self.o(c).transpose(1, 2), a
