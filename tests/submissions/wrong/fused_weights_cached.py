# mha-grade: self-attention; expect: failed; in: state; mistake: state-kept; line: 27
import math

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    """Three projections in one product: the stacked weight is made once and kept for eval."""

    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("d_model must be divisible by num_heads")
        self.num_heads = num_heads
        self.head_dim = d_model // num_heads
        self.wq = nn.Linear(d_model, d_model, bias=False)
        self.wk = nn.Linear(d_model, d_model, bias=False)
        self.wv = nn.Linear(d_model, d_model, bias=False)
        self.wo = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)
        self._stacked = None

    def _projection(self, x):
        fresh = self._stacked is None or self._stacked.dtype != x.dtype
        if fresh or self.training or torch.is_grad_enabled() and x.requires_grad:
            self._stacked = torch.cat([self.wq.weight, self.wk.weight, self.wv.weight])
        return self._stacked

    def forward(self, x, mask=None):
        B, L, D = x.shape
        qkv = (x @ self._projection(x).T).view(B, L, 3, self.num_heads, D // self.num_heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = scores.softmax(dim=-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)
        y = (self.dropout(weights) @ v).transpose(1, 2).reshape(B, L, D)
        return self.wo(y), weights
