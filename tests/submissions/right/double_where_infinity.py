# mha-grade: self-attention; expect: passed
import math

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int, dropout: float = 0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("d_model must be divisible by num_heads")
        self.num_heads = num_heads
        self.head_dim = d_model // num_heads
        self.q_lin = nn.Linear(d_model, d_model)
        self.k_lin = nn.Linear(d_model, d_model)
        self.v_lin = nn.Linear(d_model, d_model)
        self.out_lin = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def _heads(self, t):
        return t.view(*t.shape[:2], self.num_heads, self.head_dim).transpose(1, 2)

    def forward(self, x, mask=None):
        q, k, v = self._heads(self.q_lin(x)), self._heads(self.k_lin(x)), self._heads(self.v_lin(x))
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)

        if mask is None:
            weights = torch.softmax(scores, dim=-1)
        else:
            bias = torch.zeros_like(mask, dtype=scores.dtype).masked_fill(~mask, -math.inf)
            dead = ~mask.any(dim=-1, keepdim=True)
            # Softmax of a row of -inf is NaN, and where() after it does not save the gradient.
            # So give dead rows harmless scores first, and only then drop their result.
            scores = torch.where(dead, 0.0, scores + bias)
            weights = torch.where(dead, 0.0, torch.softmax(scores, dim=-1))

        context = self.dropout(weights) @ v
        context = context.transpose(1, 2).contiguous().view(x.shape)
        return self.out_lin(context), weights
