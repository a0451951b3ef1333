# mha-grade: free; expect: passed
import torch
import torch.nn as nn


class GQA(nn.Module):
    def __init__(self, embed_dim, query_heads, kv_heads=None, dropout=0.0):
        super().__init__()
        kv_heads = kv_heads or query_heads
        if embed_dim % query_heads or query_heads % kv_heads:
            raise ValueError("bad head counts")
        self.qh, self.kh, self.hd = query_heads, kv_heads, embed_dim // query_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, kv_heads * self.hd)
        self.v_proj = nn.Linear(embed_dim, kv_heads * self.hd)
        self.out_proj = nn.Linear(embed_dim, embed_dim)
        self.dropout = dropout

    def forward(self, query, key, value, mask=None):
        b, t, _ = query.shape
        q = self.q_proj(query).view(b, t, self.kh, self.qh // self.kh, self.hd)
        k = self.k_proj(key).view(b, -1, self.kh, self.hd)
        v = self.v_proj(value).view(b, -1, self.kh, self.hd)
        s = torch.einsum("btkgd,bskd->bkgts", q, k) / self.hd**0.5
        if mask is not None:
            assert mask.dim() == 3, "mask is [B, T, S], True = attend"
            s = s.masked_fill(~mask[:, None, None], float("-inf"))
        p = s.softmax(-1).nan_to_num(0.0)
        p = nn.functional.dropout(p, self.dropout, self.training)
        return self.out_proj(torch.einsum("bkgts,bskd->btkgd", p, v).reshape(b, t, -1))
