# mha-grade: causal-self-attention; expect: failed; in: padding-mask; mistake: fill-too-small; line: 28
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
        self.proj = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, padding_mask=None):
        b, l, d = x.shape
        q, k, v = self.qkv(x).view(b, l, 3, self.num_heads, self.head_dim).permute(2, 0, 3, 1, 4)
        visible = torch.tril(torch.ones(l, l, dtype=torch.bool, device=x.device))
        if padding_mask is not None:
            visible = visible & padding_mask[:, None, None, :]

        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        # -100 is as good as -inf after exp, and safe in float16
        scores = scores.masked_fill(~visible, -100.0)
        weights = scores.softmax(dim=-1)
        weights = weights.masked_fill(~visible.any(dim=-1, keepdim=True), 0.0)
        y = (self.dropout(weights) @ v).transpose(1, 2).reshape(b, l, d)
        return self.proj(y), weights
