# mha-grade: free; expect: passed
from typing import Optional, Tuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class MultiheadAttention(nn.Module):
    """The arguments of torch's own: attn_mask is [L, S] or [B * H, L, S], True = not allowed."""

    def __init__(self, embed_dim: int, num_heads: int, dropout: float = 0.0, bias: bool = True):
        super().__init__()
        if embed_dim % num_heads != 0:
            raise ValueError("embed_dim must be divisible by num_heads")
        self.num_heads, self.dropout = num_heads, dropout
        self.in_proj_weight = nn.Parameter(torch.empty(3 * embed_dim, embed_dim))
        self.in_proj_bias = nn.Parameter(torch.zeros(3 * embed_dim)) if bias else None
        self.out_proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        nn.init.xavier_uniform_(self.in_proj_weight)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Optional[Tensor] = None,
        need_weights: bool = True,
        attn_mask: Optional[Tensor] = None,
        average_attn_weights: bool = True,
    ) -> Tuple[Tensor, Optional[Tensor]]:
        b, l, m = query.shape
        s, h = key.shape[1], self.num_heads
        ws = self.in_proj_weight.chunk(3)
        bs = (None,) * 3 if self.in_proj_bias is None else self.in_proj_bias.chunk(3)
        q, k, v = (F.linear(x, w, c).view(b, -1, h, m // h).transpose(1, 2) for x, w, c in zip((query, key, value), ws, bs))
        scores = q @ k.transpose(-2, -1) / (m // h) ** 0.5
        hidden = None
        if attn_mask is not None:
            hidden = attn_mask.view(b, h, l, s) if attn_mask.dim() == 3 else attn_mask.view(1, 1, l, s)
        if key_padding_mask is not None:
            padded = key_padding_mask.view(b, 1, 1, s)
            hidden = padded if hidden is None else hidden | padded
        if hidden is None:
            weights = scores.softmax(-1)
        else:
            weights = scores.masked_fill(hidden, float("-inf")).softmax(-1).masked_fill(hidden, 0.0)
        out = F.dropout(weights, self.dropout, self.training) @ v
        out = self.out_proj(out.transpose(1, 2).reshape(b, l, m))
        if not need_weights:
            return out, None
        return out, weights.mean(1) if average_attn_weights else weights
