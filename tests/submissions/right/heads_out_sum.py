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
    """each head has its own output matrix; summed"""
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads: raise ValueError("no")
        dh = d_model // num_heads
        self.W_Q = nn.Parameter(torch.randn(num_heads, d_model, dh) / d_model ** .5)
        self.W_K = nn.Parameter(torch.randn(num_heads, d_model, dh) / d_model ** .5)
        self.W_V = nn.Parameter(torch.randn(num_heads, d_model, dh) / d_model ** .5)
        self.W_O = nn.Parameter(torch.randn(num_heads, dh, d_model) / d_model ** .5)
        self.b_Q = nn.Parameter(torch.zeros(num_heads, dh)); self.b_K = nn.Parameter(torch.zeros(num_heads, dh)); self.b_V = nn.Parameter(torch.zeros(num_heads, dh)); self.b_O = nn.Parameter(torch.zeros(d_model))
        self.p = dropout
    def forward(self, x, mask=None):
        q = torch.einsum("bpm,nmh->bpnh", x, self.W_Q) + self.b_Q
        k = torch.einsum("bpm,nmh->bpnh", x, self.W_K) + self.b_K
        v = torch.einsum("bpm,nmh->bpnh", x, self.W_V) + self.b_V
        w = safe(torch.einsum("bqnh,bknh->bnqk", q, k) / q.size(-1) ** 0.5, mask)
        z = torch.einsum("bnqk,bknh->bqnh", F.dropout(w, self.p, self.training), v)
        return torch.einsum("bqnh,nhm->bqm", z, self.W_O) + self.b_O, w
