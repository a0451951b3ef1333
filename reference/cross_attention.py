# mha-grade: cross-attention
"""Multi-head cross-attention: the model answer.

head_h = softmax(Q_h K_h^T / sqrt(Dh)) V_h
output = concat(head_1, ..., head_H) W_o
with Q = query W_q, K = key W_k, V = value W_v

B batch, Lq and Lk lengths of queries and keys, D d_model, H heads,
Dh = D / H head size (d_k in the paper)
"""

from __future__ import annotations

import math

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    """Attention from one sequence to another; `forward` returns the output and the weights."""

    def __init__(self, d_model: int, num_heads: int, dropout: float = 0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"d_model {d_model} is not divisible by num_heads {num_heads}")
        self.num_heads = num_heads
        self.head_dim = d_model // num_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.out_proj = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        mask: torch.Tensor | None = None,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Attend from query to key and value; mask broadcasts to [B, H, Lq, Lk]."""
        q = self.split_heads(self.q_proj(query))  # [B, Lq, D] -> [B, H, Lq, Dh]
        k = self.split_heads(self.k_proj(key))  # [B, Lk, D] -> [B, H, Lk, Dh]
        v = self.split_heads(self.v_proj(value))  # [B, Lk, D] -> [B, H, Lk, Dh]
        scores = self.score(q, k)  # [B, H, Lq, Lk]
        weights = self.normalise(scores, mask)  # [B, H, Lq, Lk], rows sum to 1 or are 0
        context = self.dropout(weights) @ v  # [B, H, Lq, Lk] @ [B, H, Lk, Dh]
        output = self.out_proj(self.merge_heads(context))  # [B, H, Lq, Dh] -> [B, Lq, D]
        return output, weights

    def split_heads(self, features: torch.Tensor) -> torch.Tensor:
        """Give each head its own Dh of the D features; L stands for Lq or Lk."""
        features = features.unflatten(-1, (self.num_heads, self.head_dim))  # [B, L, H, Dh]
        return features.transpose(1, 2)  # [B, H, L, Dh]

    def score(self, q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
        """Compare each query with each key, at unit variance whatever the head size."""
        # Scaling q rather than the product keeps the sums inside the range of float16.
        q = q / math.sqrt(self.head_dim)  # [B, H, Lq, Dh]
        return q @ k.transpose(-2, -1)  # [B, H, Lq, Dh] @ [B, H, Dh, Lk]

    def normalise(self, scores: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
        """Turn scores into weights over the visible keys."""
        if mask is None:
            return scores.softmax(dim=-1)  # [B, H, Lq, Lk]
        # The lowest finite number, not -inf: a row without a visible key would be 0 / 0, NaN
        # forward and backward. It becomes uniform instead, and the second fill makes it 0.
        lowest = torch.finfo(scores.dtype).min
        weights = scores.masked_fill(~mask, lowest).softmax(dim=-1)  # [B, H, Lq, Lk]
        return weights.masked_fill(~mask, 0.0)  # [B, H, Lq, Lk]

    def merge_heads(self, context: torch.Tensor) -> torch.Tensor:
        """Put the heads side by side again, token by token."""
        return context.transpose(1, 2).flatten(-2)  # [B, Lq, H, Dh] -> [B, Lq, D]
