# mha-grade: free; expect: failed; in: shapes; mistake: missing-scale
import torch
import torch.nn as nn
import torch.nn.functional as F


class MultiheadAttention(nn.Module):
    def __init__(self, embed_dim: int, num_heads: int, dropout: float = 0.0):
        super().__init__()
        if embed_dim % num_heads:
            raise ValueError("embed_dim must be divisible by num_heads")
        self.num_heads, self.dropout = num_heads, dropout
        self.in_proj_weight = nn.Parameter(torch.empty(3 * embed_dim, embed_dim))
        self.in_proj_bias = nn.Parameter(torch.zeros(3 * embed_dim))
        self.out_proj = nn.Linear(embed_dim, embed_dim)
        nn.init.xavier_uniform_(self.in_proj_weight)

    def forward(self, query, key, value, attn_mask=None, need_weights=True, average_attn_weights=True):
        E = query.size(-1)
        wq, wk, wv = self.in_proj_weight.chunk(3)
        bq, bk, bv = self.in_proj_bias.chunk(3)
        q, k, v = F.linear(query, wq, bq), F.linear(key, wk, bk), F.linear(value, wv, bv)
        q, k, v = (t.unflatten(-1, (self.num_heads, -1)).transpose(1, 2) for t in (q, k, v))
        if need_weights:
            s = q @ k.mT / (E // self.num_heads) ** 0.5
            if attn_mask is not None:
                s = s.masked_fill(~attn_mask, float("-inf"))
            w = F.dropout(s.softmax(-1).nan_to_num(0.), self.dropout, self.training)
            out = w @ v
            if average_attn_weights:
                w = w.mean(dim=1)
        else:
            w = None
            s = q @ k.mT
            if attn_mask is not None:
                s = s.masked_fill(~attn_mask, float("-inf"))
            out = F.dropout(s.softmax(-1).nan_to_num(0.), self.dropout, self.training) @ v
        return self.out_proj(out.transpose(1, 2).flatten(2)), w
