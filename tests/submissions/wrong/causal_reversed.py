# mha-grade: causal-self-attention; expect: failed; in: causal-mask; mistake: causal-reversed; line: 24
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
        self.qkv_proj = nn.Linear(d_model, 3 * d_model)
        self.o_proj = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, padding_mask=None):
        b, l, d = x.shape
        qkv = self.qkv_proj(x).view(b, l, 3, self.num_heads, self.head_dim)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)

        visible = torch.ones(l, l, dtype=torch.bool, device=x.device).triu()
        if padding_mask is not None:
            visible = visible & padding_mask[:, None, None, :]

        scores = (q / math.sqrt(self.head_dim)) @ k.transpose(-2, -1)
        scores = torch.where(visible, scores, torch.finfo(scores.dtype).min)
        weights = torch.where(visible, scores.softmax(dim=-1), 0.0)
        out = self.dropout(weights) @ v
        return self.o_proj(out.transpose(1, 2).flatten(2)), weights
