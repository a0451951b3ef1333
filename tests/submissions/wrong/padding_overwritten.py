# mha-grade: causal-self-attention; expect: failed; in: padding-mask; mistake: padding-mask-ignored; line: 33
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
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.out_proj = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, padding_mask=None):
        b, l, d = x.shape
        q = self.q_proj(x).view(b, l, self.num_heads, self.head_dim).transpose(1, 2)
        k = self.k_proj(x).view(b, l, self.num_heads, self.head_dim).transpose(1, 2)
        v = self.v_proj(x).view(b, l, self.num_heads, self.head_dim).transpose(1, 2)
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.head_dim)

        lowest = torch.finfo(scores.dtype).min
        causal = torch.tril(torch.ones(l, l, dtype=torch.bool, device=x.device))
        masked = scores
        if padding_mask is not None:
            masked = scores.masked_fill(~padding_mask[:, None, None, :], lowest)
        masked = scores.masked_fill(~causal, lowest)

        weights = masked.softmax(dim=-1)
        context = (self.dropout(weights) @ v).transpose(1, 2).reshape(b, l, d)
        return self.out_proj(context), weights
