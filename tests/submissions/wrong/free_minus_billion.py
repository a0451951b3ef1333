# mha-grade: free; expect: failed; in: mixed-precision; mistake: fill-overflows-float16; line: 25
import torch
from torch import nn
from einops import rearrange


class SpatialTransformerAttention(nn.Module):
    def __init__(self, query_dim, context_dim, heads=8, dim_head=64, dropout=0.):
        super().__init__()
        self.heads, self.scale = heads, dim_head ** -0.5
        self.to_q = nn.Linear(query_dim, heads * dim_head, bias=False)
        self.to_kv = nn.Linear(context_dim, heads * dim_head * 2, bias=False)
        self.to_out = nn.Sequential(nn.Linear(heads * dim_head, query_dim), nn.Dropout(dropout))
        self.drop = nn.Dropout(dropout)

    def forward(self, x, context, mask=None):
        """mask (b, m): True where the context is real"""
        q, k, v = (rearrange(t, 'b n (h d) -> b h n d', h=self.heads)
                   for t in (self.to_q(x), *self.to_kv(context).chunk(2, dim=-1)))
        dots = q @ k.transpose(-1, -2) * self.scale
        if mask is None:
            attn = dots.softmax(dim=-1)
        else:
            mask = rearrange(mask, 'b m -> b 1 1 m')
            attn = dots.masked_fill(~mask, -1e9).softmax(dim=-1) * mask
        out = self.drop(attn) @ v
        return self.to_out(rearrange(out, 'b h n d -> b n (h d)'))
