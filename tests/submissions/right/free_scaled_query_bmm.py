# mha-grade: free; expect: passed
import torch
import torch.nn.functional as F
from torch import nn


class MultiheadAttention(nn.Module):
    """Time x Batch x Channel, the scale goes into the query."""

    def __init__(self, embed_dim, num_heads, attn_dropout=0., bias=True):
        super().__init__()
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.attn_dropout = attn_dropout
        self.head_dim = embed_dim // num_heads
        assert self.head_dim * num_heads == embed_dim, "embed_dim must be divisible by num_heads"
        self.scaling = self.head_dim ** -0.5
        self.k_proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.v_proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.q_proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.out_proj = nn.Linear(embed_dim, embed_dim, bias=bias)

    def _shape(self, t, bsz):
        return t.contiguous().view(-1, bsz * self.num_heads, self.head_dim).transpose(0, 1)

    def forward(self, query, key, value, attn_mask=None):
        """attn_mask: float (T, S), added to every head"""
        tgt_len, bsz, embed_dim = query.size()
        q = self._shape(self.q_proj(query) * self.scaling, bsz)
        k = self._shape(self.k_proj(key), bsz)
        v = self._shape(self.v_proj(value), bsz)

        attn_weights = torch.bmm(q, k.transpose(1, 2))
        if attn_mask is not None:
            attn_mask = attn_mask.to(attn_weights.dtype)
            closed = (attn_mask == float('-inf')).all(1, keepdim=True).unsqueeze(0)
            attn_weights = attn_weights + attn_mask.unsqueeze(0).masked_fill(closed, 0.)
        attn_weights = F.softmax(attn_weights, dim=-1)
        if attn_mask is not None:
            attn_weights = attn_weights.masked_fill(closed, 0.)
        attn_weights = F.dropout(attn_weights, p=self.attn_dropout, training=self.training)

        attn = torch.bmm(attn_weights, v)
        attn = attn.transpose(0, 1).contiguous().view(tgt_len, bsz, embed_dim)
        return self.out_proj(attn), attn_weights.view(bsz, self.num_heads, tgt_len, -1).sum(dim=1) / self.num_heads
