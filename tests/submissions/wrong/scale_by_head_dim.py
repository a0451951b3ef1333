# mha-grade: cross-attention; expect: failed; in: scaling; mistake: scale-by-head-dim; line: 12/24
import torch
from torch import nn


class CrossAttention(nn.Module):
    def __init__(self, dim, num_heads, dropout=0.0):
        super().__init__()
        if dim % num_heads != 0:
            raise ValueError(f"dim {dim} should be divisible by num_heads {num_heads}")
        self.num_heads = num_heads
        self.scale = 1.0 / (dim // num_heads)
        self.to_q = nn.Linear(dim, dim, bias=False)
        self.to_k = nn.Linear(dim, dim, bias=False)
        self.to_v = nn.Linear(dim, dim, bias=False)
        self.to_out = nn.Linear(dim, dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            t.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
            for t in (self.to_q(query), self.to_k(key), self.to_v(value))
        )
        sim = (q * self.scale) @ k.transpose(-1, -2)
        if mask is not None:
            sim = sim.masked_fill(~mask, torch.finfo(sim.dtype).min)
        attn = sim.softmax(dim=-1)
        if mask is not None:
            attn = attn.masked_fill(~mask, 0.0)
        out = self.dropout(attn) @ v
        return self.to_out(out.transpose(1, 2).flatten(2)), attn
