# mha-grade: cross-attention; expect: passed
import math

import torch
from torch import nn


class MultiheadAttention(nn.Module):
    """In the manner of fairseq: heads are folded into the batch so that bmm does the work."""

    def __init__(self, embed_dim, num_heads, dropout=0.0):
        super().__init__()
        if embed_dim % num_heads != 0:
            raise ValueError("embed_dim must be divisible by num_heads")
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)
        self.dropout = nn.Dropout(dropout)

    def _fold(self, t):
        # [B, L, D] -> [B * H, L, Dh], head fastest
        b, l, _ = t.shape
        t = t.reshape(b, l, self.num_heads, self.head_dim).transpose(1, 2)
        return t.reshape(b * self.num_heads, l, self.head_dim)

    def forward(self, query, key, value, mask=None):
        b, lq, _ = query.shape
        lk = key.shape[1]
        q = self._fold(self.q_proj(query)) / math.sqrt(self.head_dim)
        k = self._fold(self.k_proj(key))
        v = self._fold(self.v_proj(value))

        scores = torch.bmm(q, k.transpose(1, 2))
        if mask is not None:
            hidden = ~mask.expand(b, self.num_heads, lq, lk).reshape(-1, lq, lk)
            scores = scores.masked_fill(hidden, torch.finfo(scores.dtype).min)
        weights = scores.softmax(dim=-1)
        if mask is not None:
            weights = weights.masked_fill(hidden, 0.0)

        context = torch.bmm(self.dropout(weights), v)
        context = context.view(b, self.num_heads, lq, self.head_dim).transpose(1, 2)
        output = self.out_proj(context.reshape(b, lq, self.embed_dim))
        return output, weights.view(b, self.num_heads, lq, lk)
