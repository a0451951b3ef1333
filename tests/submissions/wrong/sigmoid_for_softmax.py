# mha-grade: causal-self-attention; expect: failed; in: scaling; mistake: sigmoid-for-softmax; line: 33
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
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, d_model)
        self.value = nn.Linear(d_model, d_model)
        self.proj = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, padding_mask=None):
        B, T, C = x.shape
        q = self.query(x).view(B, T, self.num_heads, self.head_dim).transpose(1, 2)
        k = self.key(x).view(B, T, self.num_heads, self.head_dim).transpose(1, 2)
        v = self.value(x).view(B, T, self.num_heads, self.head_dim).transpose(1, 2)

        i = torch.arange(T, device=x.device)
        visible = i[None, :] <= i[:, None]
        if padding_mask is not None:
            visible = visible & padding_mask[:, None, None, :]

        # squash the scores into 0..1 so that they act as weights
        weights = torch.sigmoid(q @ k.transpose(-2, -1) / math.sqrt(self.head_dim))
        weights = self.dropout(weights.masked_fill(~visible, 0.0))
        y = (weights @ v).transpose(1, 2).contiguous().view(B, T, C)
        return self.proj(y), weights
