# mha-grade: self-attention; expect: failed; in: shapes; mistake: split-without-transpose; line: 24
import math

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("d_model must be divisible by num_heads")
        self.num_heads = num_heads
        self.head_dim = d_model // num_heads
        self.linear_q = nn.Linear(d_model, d_model)
        self.linear_k = nn.Linear(d_model, d_model)
        self.linear_v = nn.Linear(d_model, d_model)
        self.linear_out = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        b, l, d = x.shape
        # straight to [B, H, L, Dh]
        q = self.linear_q(x).view(b, self.num_heads, l, self.head_dim)
        k = self.linear_k(x).view(b, self.num_heads, l, self.head_dim)
        v = self.linear_v(x).view(b, self.num_heads, l, self.head_dim)

        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.head_dim)
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        attn = torch.softmax(scores, dim=-1)
        if mask is not None:
            attn = attn.masked_fill(~mask, 0.0)
        out = torch.matmul(self.dropout(attn), v)  # [B, H, L, Dh]
        out = out.transpose(1, 2).contiguous().view(b, l, d)
        return self.linear_out(out), attn
