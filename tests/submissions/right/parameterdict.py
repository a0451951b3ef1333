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


class MultiHead(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads: raise ValueError("no")
        self.n = num_heads
        self.w = nn.ParameterDict({n: nn.Parameter(torch.randn(d_model, d_model) / d_model ** 0.5) for n in "qkvo"})
        self.b = nn.ParameterDict({n: nn.Parameter(torch.zeros(d_model)) for n in "qkvo"})
        self.rate = dropout
    def forward(self, x, mask=None):
        def proj(n, t): return t @ self.w[n] + self.b[n]
        B, L, D = x.shape
        q, k, v = [proj(n, x).view(B, L, self.n, D // self.n).permute(0, 2, 1, 3) for n in "qkv"]
        a = safe(torch.einsum("bhqd,bhkd->bhqk", q / math.sqrt(D // self.n), k), mask)
        c = torch.einsum("bhqk,bhkd->bqhd", F.dropout(a, self.rate, self.training), v).reshape(B, L, D)
        return proj("o", c), a
