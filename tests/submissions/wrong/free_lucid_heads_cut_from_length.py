# mha-grade: free; expect: failed; in: scaling; mistake: split-without-transpose
import torch
from torch import einsum, nn


def exists(val):
    return val is not None


def default(val, d):
    return val if exists(val) else d


class Attention(nn.Module):
    def __init__(self, dim, *, dim_head=64, heads=8, dropout=0.0):
        super().__init__()
        inner_dim = dim_head * heads
        self.heads = heads
        self.scale = dim_head**-0.5
        self.to_q = nn.Linear(dim, inner_dim, bias=False)
        self.to_kv = nn.Linear(dim, inner_dim * 2, bias=False)
        self.to_out = nn.Sequential(nn.Linear(inner_dim, dim), nn.Dropout(dropout))

    def forward(self, x, context=None, mask=None, context_mask=None):
        b, n, _, h = *x.shape, self.heads
        context = default(context, x)
        q = self.to_q(x)
        k, v = self.to_kv(context).chunk(2, dim=-1)
        q, k, v = (t.reshape(b, h, -1, t.shape[-1] // h) for t in (q, k, v))
        sim = einsum("b h i d, b h j d -> b h i j", q, k) * self.scale
        seen = default(context_mask, mask)
        if exists(seen):
            sim = sim.masked_fill(~seen[:, None, None, :], float("-inf"))
        attn = sim.softmax(dim=-1)
        if exists(seen):
            attn = attn.masked_fill(~seen[:, None, None, :], 0.0)
        out = einsum("b h i j, b h j d -> b h i d", attn, v)
        return self.to_out(out.transpose(1, 2).reshape(b, n, -1))
