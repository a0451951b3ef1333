# mha-grade: causal-self-attention; expect: passed
import math

import torch
import torch.nn as nn


def split(t, num_heads):
    """[B, L, D] -> [B, H, L, Dh]"""
    return t.unflatten(-1, (num_heads, -1)).transpose(1, 2)


def merge(t):
    """[B, H, L, Dh] -> [B, L, D]"""
    return t.transpose(1, 2).flatten(2)


def visible_keys(x, padding_mask):
    """[1 or B, 1, L, L], True where the row may look at the column"""
    length = x.size(1)
    visible = torch.ones(1, 1, length, length, dtype=torch.bool, device=x.device).tril()
    if padding_mask is not None:
        visible = visible & padding_mask[:, None, None]
    return visible


class ScaledDotProductAttention(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, q, k, v, visible):
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
        scores = scores.masked_fill(~visible, torch.finfo(scores.dtype).min)
        weights = self.dropout(scores.softmax(dim=-1).masked_fill(~visible, 0.0))
        return weights @ v, weights


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("d_model must be divisible by num_heads")
        self.num_heads = num_heads
        self.projections = nn.ModuleList(nn.Linear(d_model, d_model) for _ in range(3))
        self.attention = ScaledDotProductAttention(dropout)
        self.output = nn.Linear(d_model, d_model)

    def forward(self, x, padding_mask=None):
        q, k, v = (split(projection(x), self.num_heads) for projection in self.projections)
        context, weights = self.attention(q, k, v, visible_keys(x, padding_mask))
        return self.output(merge(context)), weights
