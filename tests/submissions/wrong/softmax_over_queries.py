# mha-grade: self-attention; expect: failed; in: scaling; mistake: softmax-over-queries; line: 32
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
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.w_o = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)
        self.softmax = nn.Softmax(dim=2)

    def forward(self, x, mask=None):
        b, l, d = x.shape
        shape = (b, l, self.num_heads, self.head_dim)
        q = self.w_q(x).view(shape).transpose(1, 2)
        k = self.w_k(x).view(shape).transpose(1, 2)
        v = self.w_v(x).view(shape).transpose(1, 2)

        scores = q @ k.transpose(2, 3) / math.sqrt(self.head_dim)
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = self.softmax(scores)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)
        weights = self.dropout(weights)
        y = (weights @ v).transpose(1, 2).contiguous().view(b, l, d)
        return self.w_o(y), weights
