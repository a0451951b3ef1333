# mha-grade: self-attention; expect: failed; in: scaling; mistake: one-head-of-keys
import torch
from torch import nn


class MultiHeadSelfAttention(nn.Module):
    """Keys and values of one head for all query heads: multi-query attention, not what was asked."""

    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("d_model must be divisible by num_heads")
        self.num_heads, self.head_dim = num_heads, d_model // num_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, self.head_dim)
        self.v_proj = nn.Linear(d_model, self.head_dim)
        self.out_proj = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        b, n, d = x.shape
        q = self.q_proj(x).view(b, n, self.num_heads, self.head_dim).transpose(1, 2)
        k, v = self.k_proj(x).unsqueeze(1), self.v_proj(x).unsqueeze(1)
        scores = q @ k.transpose(-2, -1) / self.head_dim**0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        weights = torch.nan_to_num(scores.softmax(-1))
        context = self.dropout(weights) @ v
        return self.out_proj(context.transpose(1, 2).reshape(b, n, d)), weights
