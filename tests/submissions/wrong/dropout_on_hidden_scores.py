# mha-grade: self-attention; expect: failed; in: dropout; mistake: dropout-misplaced; line: 29
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
        self.qkv = nn.Linear(d_model, 3 * d_model)
        self.out = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        B, L, D = x.shape
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q = q.reshape(B, L, self.num_heads, self.head_dim).transpose(1, 2)
        k = k.reshape(B, L, self.num_heads, self.head_dim).transpose(1, 2)
        v = v.reshape(B, L, self.num_heads, self.head_dim).transpose(1, 2)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
            dead = ~mask.any(dim=-1, keepdim=True)
            scores = scores.masked_fill(dead, 0.0)
        weights = torch.softmax(self.dropout(scores), dim=-1)
        if mask is not None:
            weights = weights.masked_fill(dead, 0.0)
        ctx = weights @ v
        return self.out(ctx.transpose(1, 2).reshape(B, L, D)), weights
