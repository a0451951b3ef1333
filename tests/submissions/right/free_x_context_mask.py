# mha-grade: free; expect: passed
import torch
from torch import nn, einsum
from einops import rearrange, repeat


def exists(val):
    return val is not None


def default(val, d):
    return val if exists(val) else d


class CrossAttention(nn.Module):
    def __init__(self, query_dim, context_dim=None, heads=8, dim_head=64, dropout=0.):
        super().__init__()
        inner_dim = dim_head * heads
        context_dim = default(context_dim, query_dim)
        self.scale = dim_head ** -0.5
        self.heads = heads
        self.to_q = nn.Linear(query_dim, inner_dim, bias=False)
        self.to_k = nn.Linear(context_dim, inner_dim, bias=False)
        self.to_v = nn.Linear(context_dim, inner_dim, bias=False)
        self.drop = nn.Dropout(dropout)
        self.to_out = nn.Linear(inner_dim, query_dim)

    def forward(self, x, context=None, mask=None):
        h = self.heads
        context = default(context, x)
        q, k, v = self.to_q(x), self.to_k(context), self.to_v(context)
        q, k, v = (rearrange(t, 'b n (h d) -> (b h) n d', h=h) for t in (q, k, v))
        sim = einsum('bid,bjd->bij', q, k) * self.scale
        if exists(mask):                       # (b, j): which context tokens exist
            mask = repeat(mask.bool(), 'b j -> (b h) 1 j', h=h)
            sim = sim.masked_fill(~mask, torch.finfo(sim.dtype).min)
        attn = sim.softmax(dim=-1)
        if exists(mask):
            attn = attn * mask
        out = einsum('bij,bjd->bid', self.drop(attn), v)
        return self.to_out(rearrange(out, '(b h) n d -> b n (h d)', h=h))
