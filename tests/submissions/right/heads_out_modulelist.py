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
        self.h = num_heads
        self.qkv = nn.Linear(d_model, 3 * d_model)
        self.outs = nn.ModuleList(nn.Linear(dh, d_model, bias=False) for _ in range(num_heads))
        self.p = dropout
    def forward(self, x, mask=None):
        B, L, D = x.shape
        q, k, v = self.qkv(x).view(B, L, 3, self.h, -1).permute(2, 0, 3, 1, 4)
        w = safe(q @ k.transpose(-1, -2) / q.size(-1) ** 0.5, mask)
        c = F.dropout(w, self.p, self.training) @ v
        return sum(o(c[:, i]) for i, o in enumerate(self.outs)), w
