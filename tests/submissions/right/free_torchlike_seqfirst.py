# mha-grade: free; expect: passed
from typing import Optional, Tuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class MultiheadAttention(nn.Module):
    """Drop-in for the one in torch.nn: (L, N, E) inputs, True in key_padding_mask = padding,
    attn_mask either boolean (True = not allowed) or added to the scores."""

    def __init__(self, embed_dim, num_heads, dropout=0.0, bias=True):
        super().__init__()
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.dropout = dropout
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise ValueError("embed_dim must be divisible by num_heads")
        self.in_proj_weight = nn.Parameter(torch.empty(3 * embed_dim, embed_dim))
        self.in_proj_bias = nn.Parameter(torch.zeros(3 * embed_dim)) if bias else None
        self.out_proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        nn.init.xavier_uniform_(self.in_proj_weight)

    def forward(self, query: Tensor, key: Tensor, value: Tensor,
                key_padding_mask: Optional[Tensor] = None, need_weights: bool = True,
                attn_mask: Optional[Tensor] = None) -> Tuple[Tensor, Optional[Tensor]]:
        tgt_len, bsz, _ = query.shape
        weights = self.in_proj_weight.chunk(3)
        biases = (None,) * 3 if self.in_proj_bias is None else self.in_proj_bias.chunk(3)
        q, k, v = (
            F.linear(t, w, b).reshape(t.shape[0], bsz * self.num_heads, self.head_dim).transpose(0, 1)
            for t, w, b in zip((query, key, value), weights, biases)
        )
        scores = torch.bmm(q * self.head_dim ** -0.5, k.transpose(1, 2))
        scores = scores.view(bsz, self.num_heads, tgt_len, -1)

        blocked = torch.zeros_like(scores, dtype=torch.bool)
        if attn_mask is not None:
            if attn_mask.dtype == torch.bool:
                blocked = blocked | attn_mask
            else:
                scores = scores + attn_mask
                blocked = blocked | attn_mask.isneginf()
        if key_padding_mask is not None:
            blocked = blocked | key_padding_mask.view(bsz, 1, 1, -1)
        scores = scores.masked_fill(blocked, torch.finfo(scores.dtype).min)
        probs = F.softmax(scores, dim=-1).masked_fill(blocked, 0.0)
        dropped = F.dropout(probs, self.dropout, self.training)

        ctx = dropped.flatten(0, 1) @ v
        ctx = ctx.transpose(0, 1).reshape(tgt_len, bsz, self.embed_dim)
        return self.out_proj(ctx), probs.mean(dim=1) if need_weights else None
