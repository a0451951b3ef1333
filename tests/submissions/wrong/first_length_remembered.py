# mha-grade: causal-self-attention; expect: failed; in: state; mistake: state-kept; line: 29
import math

import torch
from torch import nn


class CausalAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("d_model must be divisible by num_heads")
        self.num_heads = num_heads
        self.head_dim = d_model // num_heads
        self.causal = None  # made at the first call, reused afterwards
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

        if self.causal is None:
            self.causal = torch.ones(l, l, dtype=torch.bool, device=x.device).tril()
        visible = self.causal
        if padding_mask is not None:
            visible = visible & padding_mask[:, None, None, :]

        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        scores = scores.masked_fill(~visible, torch.finfo(scores.dtype).min)
        weights = scores.softmax(dim=-1).masked_fill(~visible, 0.0)
        out = (self.dropout(weights) @ v).transpose(1, 2).reshape(b, l, d)
        return self.out_proj(out), weights
