# mha-grade: free; expect: passed
from __future__ import annotations

from typing import Final

import torch
from torch import Tensor, nn


class MultiHeadAttention(nn.Module):
    """Multi-head attention with an optional boolean mask.

    Args:
        num_heads: number of heads.
        embed_dim: width of queries, keys and values.
        dropout: probability that a weight is dropped during training.
    """

    num_heads: Final[int]
    head_dim: Final[int]

    def __init__(self, num_heads: int, embed_dim: int, *, dropout: float = 0.0) -> None:
        super().__init__()
        if embed_dim % num_heads != 0:
            message = f"embed_dim ({embed_dim}) is not divisible by num_heads ({num_heads})"
            raise ValueError(message)
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.query_proj: nn.Linear = nn.Linear(embed_dim, embed_dim)
        self.key_proj: nn.Linear = nn.Linear(embed_dim, embed_dim)
        self.value_proj: nn.Linear = nn.Linear(embed_dim, embed_dim)
        self.out_proj: nn.Linear = nn.Linear(embed_dim, embed_dim)
        self.dropout: nn.Dropout = nn.Dropout(dropout)

    def _split(self, tensor: Tensor) -> Tensor:
        batch, length, _ = tensor.shape
        return tensor.reshape(batch, length, self.num_heads, self.head_dim).transpose(1, 2)

    def forward(self, query: Tensor, key: Tensor, value: Tensor, *, mask: Tensor | None = None) -> Tensor:
        """`mask` broadcasts to [batch, heads, q_len, kv_len]; True lets a query see a key."""
        q, k, v = self._split(self.query_proj(query)), self._split(self.key_proj(key)), self._split(self.value_proj(value))
        scores: Tensor = torch.matmul(q, k.transpose(-2, -1)) * self.head_dim**-0.5
        if mask is not None:
            scores = scores.masked_fill(mask.logical_not(), torch.finfo(scores.dtype).min)
        weights: Tensor = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(mask.logical_not(), 0.0)
        context: Tensor = torch.matmul(self.dropout(weights), v)
        return self.out_proj(context.transpose(1, 2).flatten(start_dim=2))
