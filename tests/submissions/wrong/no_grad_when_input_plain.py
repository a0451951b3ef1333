# mha-grade: self-attention; expect: failed; in: gradients; mistake: gradient-cut; line: 31
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
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.out_proj = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        query = key = value = x
        B, L, D = query.shape
        S = key.shape[1]
        H, Dh = self.num_heads, self.head_dim
        q = self.q_proj(query).reshape(B, L, H, Dh).transpose(1, 2)
        k = self.k_proj(key).reshape(B, S, H, Dh).transpose(1, 2)
        v = self.v_proj(value).reshape(B, S, H, Dh).transpose(1, 2)
        if not query.requires_grad:
            q, k, v = q.detach(), k.detach(), v.detach()
        scores = (q / math.sqrt(Dh)) @ k.transpose(-2, -1)
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)
        dropped = self.dropout(weights)
        context = dropped @ v
        out = self.out_proj(context.transpose(1, 2).reshape(B, L, D))
        return out, weights
