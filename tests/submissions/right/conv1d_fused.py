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


class ConvAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads: raise ValueError("no")
        self.n = num_heads
        self.qkv = nn.Conv1d(d_model, 3 * d_model, 1, bias=False)
        self.o = nn.Conv1d(d_model, d_model, 1)
        self.drop = nn.Dropout(dropout)
    def forward(self, x, mask=None):
        B, L, D = x.shape
        q, k, v = self.qkv(x.transpose(1, 2)).view(B, 3, self.n, D // self.n, L).unbind(1)
        a = safe(q.transpose(-1, -2) @ k / math.sqrt(D // self.n), mask)
        c = (self.drop(a) @ v.transpose(-1, -2)).transpose(-1, -2).reshape(B, D, L)
        return self.o(c).transpose(1, 2), a
