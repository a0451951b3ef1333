# mha-grade: free; expect: passed
import torch
import torch.nn as nn
from einops import rearrange, repeat


class GroupedQueryAttention(nn.Module):
    def __init__(self, embed_dim: int, query_heads: int, kv_heads: int, dropout: float = 0.0, bias: bool = True):
        super().__init__()
        if query_heads % kv_heads:
            raise ValueError(f"{query_heads=} must be divisible by {kv_heads=}")
        if embed_dim % query_heads:
            raise ValueError(f"{embed_dim=} must be divisible by {query_heads=}")
        self.query_heads, self.kv_heads = query_heads, kv_heads
        head_dim = embed_dim // query_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.k_proj = nn.Linear(embed_dim, kv_heads * head_dim, bias=bias)
        self.v_proj = nn.Linear(embed_dim, kv_heads * head_dim, bias=bias)
        self.out_proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, attn_mask=None):
        q = rearrange(self.q_proj(query), "b n (h d) -> b h n d", h=self.query_heads)
        k = rearrange(self.k_proj(key), "b n (h d) -> b h n d", h=self.kv_heads)
        v = rearrange(self.v_proj(value), "b n (h d) -> b h n d", h=self.kv_heads)
        g = self.query_heads // self.kv_heads
        k = repeat(k, "b h n d -> b (h g) n d", g=g)
        v = repeat(v, "b h n d -> b (h g) n d", g=g)
        sim = torch.einsum("bhid,bhjd->bhij", q, k) * q.shape[-1] ** -0.5
        if attn_mask is not None:
            sim = sim.masked_fill(~attn_mask, -torch.inf)
        w = torch.nan_to_num(sim.softmax(-1))
        out = torch.einsum("bhij,bhjd->bhid", self.dropout(w), v)
        return self.out_proj(rearrange(out, "b h n d -> b n (h d)"))
