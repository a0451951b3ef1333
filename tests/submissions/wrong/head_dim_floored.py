# mha-grade: self-attention; expect: failed; in: divisibility; mistake: head-dim-floored; line: 12
import math

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        self.num_heads = num_heads
        self.head_dim = d_model // num_heads
        inner_dim = self.head_dim * num_heads
        self.to_q = nn.Linear(d_model, inner_dim, bias=False)
        self.to_k = nn.Linear(d_model, inner_dim, bias=False)
        self.to_v = nn.Linear(d_model, inner_dim, bias=False)
        self.to_out = nn.Linear(inner_dim, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        q, k, v = (
            f(x).unflatten(-1, (self.num_heads, self.head_dim)).transpose(1, 2)
            for f in (self.to_q, self.to_k, self.to_v)
        )
        dots = q @ k.transpose(-1, -2) / math.sqrt(self.head_dim)
        if mask is not None:
            dots = dots.masked_fill(~mask, torch.finfo(dots.dtype).min)
        attn = dots.softmax(dim=-1)
        if mask is not None:
            attn = attn.masked_fill(~mask, 0.0)
        out = self.dropout(attn) @ v
        return self.to_out(out.transpose(1, 2).flatten(2)), attn
