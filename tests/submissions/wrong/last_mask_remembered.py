# mha-grade: self-attention; expect: failed; in: state; mistake: state-kept; line: 31
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
        self.mask = None
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def attention_weights(self, q, k):
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        if self.mask is None:
            return scores.softmax(dim=-1)
        scores = scores.masked_fill(~self.mask, torch.finfo(scores.dtype).min)
        return scores.softmax(dim=-1).masked_fill(~self.mask, 0.0)

    def forward(self, x, mask=None):
        if mask is not None:
            self.mask = mask
        b, l, d = x.shape
        q = self.W_q(x).view(b, l, self.num_heads, self.head_dim).transpose(1, 2)
        k = self.W_k(x).view(b, l, self.num_heads, self.head_dim).transpose(1, 2)
        v = self.W_v(x).view(b, l, self.num_heads, self.head_dim).transpose(1, 2)
        weights = self.attention_weights(q, k)
        y = (self.dropout(weights) @ v).transpose(1, 2).reshape(b, l, d)
        return self.W_o(y), weights
