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


class MHA(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads: raise ValueError("no")
        self.h = num_heads
        self.p = nn.ModuleDict({n: nn.Linear(d_model, d_model, bias=n == "out") for n in ("query", "key", "value", "out")})
        self.drop = nn.Dropout(dropout)
    def split(self, t):
        return t.unflatten(-1, (self.h, -1)).transpose(1, 2)
    @torch.compile(dynamic=True)
    def forward(self, x, mask=None):
        q, k, v = (self.split(self.p[n](x)) for n in ("query", "key", "value"))
        a = safe(q @ k.mT * q.size(-1) ** -0.5, mask)
        return self.p["out"]((self.drop(a) @ v).transpose(1, 2).flatten(2)), a
