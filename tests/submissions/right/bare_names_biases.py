# mha-grade: self-attention; expect: passed
from __future__ import annotations
import math
import torch
from torch import nn
import torch.nn.functional as F


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("d_model must be divisible by num_heads")
        self.d_model, self.num_heads, self.head_dim = d_model, num_heads, d_model // num_heads
        self.p = dropout
        for n in ("q", "k", "v", "o"):
            setattr(self, "weight_" + n, nn.Parameter(torch.randn(d_model, d_model) / d_model ** 0.5))
            setattr(self, "bias_" + n, nn.Parameter(torch.zeros(d_model)))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        query = key = value = x
        B, L, D = query.shape
        S = key.shape[1]
        H, Dh = self.num_heads, self.head_dim
        q = F.linear(query, self.weight_q, self.bias_q).reshape(B, L, H, Dh).transpose(1, 2)
        k = F.linear(key, self.weight_k, self.bias_k).reshape(B, S, H, Dh).transpose(1, 2)
        v = F.linear(value, self.weight_v, self.bias_v).reshape(B, S, H, Dh).transpose(1, 2)
        scores = (q / math.sqrt(Dh)) @ k.transpose(-2, -1)
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)
        dropped = self.dropout(weights)
        context = dropped @ v
        out = F.linear(context.transpose(1, 2).reshape(B, L, D), self.weight_o, self.bias_o)
        return out, weights
