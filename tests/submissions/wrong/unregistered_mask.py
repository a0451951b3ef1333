# mha-grade: causal-self-attention; expect: failed; in: mixed-precision; mistake: tensor-left-behind; line: 23
import math

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    max_len = 1024

    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("d_model must be divisible by num_heads")
        self.num_heads = num_heads
        self.head_dim = d_model // num_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.out_proj = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)
        # built once: 0 where visible, a large negative number in the future
        self.causal_bias = torch.full((self.max_len, self.max_len), -1e30).triu(1)

    def forward(self, x, padding_mask=None):
        b, l, d = x.shape
        q = self.q_proj(x).view(b, l, self.num_heads, self.head_dim).transpose(1, 2)
        k = self.k_proj(x).view(b, l, self.num_heads, self.head_dim).transpose(1, 2)
        v = self.v_proj(x).view(b, l, self.num_heads, self.head_dim).transpose(1, 2)

        bias = self.causal_bias[:l, :l]
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim) + bias
        visible = bias == 0
        if padding_mask is not None:
            visible = visible & padding_mask[:, None, None, :]
            scores = scores.masked_fill(~visible, torch.finfo(scores.dtype).min)
        weights = scores.softmax(dim=-1).masked_fill(~visible, 0.0)
        out = (self.dropout(weights) @ v).transpose(1, 2).reshape(b, l, d)
        return self.out_proj(out), weights
