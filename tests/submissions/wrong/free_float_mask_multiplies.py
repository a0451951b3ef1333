# mha-grade: free; expect: failed; in: combined-masks; mistake: mask-kind-misread
import torch
import torch.nn as nn


class MultiheadAttention(nn.Module):
    """attn_mask: bool (True = may attend) or float (added to the scores)."""

    def __init__(self, embed_dim, num_heads, dropout=0.0):
        super().__init__()
        assert embed_dim % num_heads == 0
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)
        self.dropout = dropout

    def forward(self, query, key, value, attn_mask=None):
        b, l, e = query.shape
        q = self.q_proj(query).view(b, l, self.num_heads, self.head_dim).transpose(1, 2)
        k = self.k_proj(key).view(b, -1, self.num_heads, self.head_dim).transpose(1, 2)
        v = self.v_proj(value).view(b, -1, self.num_heads, self.head_dim).transpose(1, 2)
        scores = q @ k.transpose(-2, -1)
        if attn_mask is not None and attn_mask.dtype != torch.bool:
            scores = scores * attn_mask
        scores = scores * self.head_dim**-0.5
        if attn_mask is not None and attn_mask.dtype == torch.bool:
            scores = scores.masked_fill(~attn_mask, float("-inf"))
        w = torch.softmax(scores, -1).nan_to_num(0.0)
        w = nn.functional.dropout(w, self.dropout, self.training)
        return self.out_proj((w @ v).transpose(1, 2).reshape(b, l, e))
