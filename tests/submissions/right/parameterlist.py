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


class Attention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads: raise ValueError("no")
        self.n = num_heads
        self.ws = nn.ParameterList([nn.Parameter(torch.empty(d_model, d_model)) for _ in range(4)])
        for w in self.ws: nn.init.xavier_uniform_(w)
        self.rate = dropout
    def forward(self, x, mask=None):
        B, L, D = x.shape
        q, k, v = [F.linear(x, w).view(B, L, self.n, D // self.n).permute(0, 2, 1, 3) for w in self.ws[:3]]
        a = safe(q @ k.transpose(2, 3) / math.sqrt(D // self.n), mask)
        c = (F.dropout(a, self.rate, self.training) @ v).permute(0, 2, 1, 3).reshape(B, L, D)
        return F.linear(c, self.ws[3]), a
