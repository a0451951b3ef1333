# mha-grade: free; expect: failed; in: dropout; mistake: dropout-not-inverted, uniform-dead-rows; line: 60, 59
from collections import namedtuple
from functools import partial

import torch
import torch.nn.functional as F
from einops import rearrange
from torch import einsum, nn

Intermediates = namedtuple("Intermediates", ["qk_similarities", "post_softmax_attn"])


def exists(v):
    return v is not None


def default(v, d):
    return v if exists(v) else d


def max_neg_value(t):
    return -torch.finfo(t.dtype).max


class Attention(nn.Module):
    def __init__(self, dim, dim_head=64, heads=8, causal=False, num_mem_kv=0, dropout=0.0, one_kv_head=False):
        super().__init__()
        self.scale = dim_head**-0.5
        self.heads = heads
        self.causal = causal
        q_dim = dim_head * heads
        kv_dim = dim_head if one_kv_head else q_dim
        self.one_kv_head = one_kv_head
        self.to_q = nn.Linear(dim, q_dim, bias=False)
        self.to_k = nn.Linear(dim, kv_dim, bias=False)
        self.to_v = nn.Linear(dim, kv_dim, bias=False)
        self.dropout = nn.Dropout(dropout)
        self.attn_fn = partial(F.softmax, dim=-1)
        self.to_out = nn.Linear(q_dim, dim, bias=False)

    def forward(self, x, context=None, mask=None, context_mask=None, attn_mask=None):
        kv_input = default(context, x)
        q, k, v = self.to_q(x), self.to_k(kv_input), self.to_v(kv_input)
        q = rearrange(q, "b n (h d) -> b h n d", h=self.heads)
        kv_heads = 1 if self.one_kv_head else self.heads
        k, v = (rearrange(t, "b n (h d) -> b h n d", h=kv_heads) for t in (k, v))
        if self.one_kv_head:
            k, v = (t.expand(-1, self.heads, -1, -1) for t in (k, v))
        dots = einsum("bhid,bhjd->bhij", q, k) * self.scale
        input_mask = context_mask if exists(context) else default(context_mask, mask)
        if exists(input_mask):
            dots = dots.masked_fill(~rearrange(input_mask, "b j -> b 1 1 j"), max_neg_value(dots))
        if exists(attn_mask):
            dots = dots.masked_fill(~attn_mask, max_neg_value(dots))
        if self.causal:
            i, j = dots.shape[-2:]
            causal_mask = torch.ones((i, j), dtype=torch.bool, device=x.device).triu(j - i + 1)
            dots = dots.masked_fill(causal_mask, max_neg_value(dots))
        attn = self.attn_fn(dots)
        attn = attn * (torch.rand_like(attn) > self.dropout.p) if self.training else attn
        out = einsum("bhij,bhjd->bhid", attn, v)
        return self.to_out(rearrange(out, "b h n d -> b n (h d)"))
