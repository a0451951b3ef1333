# mha-grade: self-attention
"""Multi-head self-attention: the model answer.

head_h = softmax(Q_h K_h^T / sqrt(Dh)) V_h        with Q = x W_q, K = x W_k, V = x W_v
output = concat(head_1, ..., head_H) W_o

B batch, L sequence length, D d_model, H heads, Dh = D / H head size (d_k in the paper)
"""

from __future__ import annotations

import math

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    """Self-attention in `num_heads` heads; `forward` returns the output and the weights."""

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
        self, x: torch.Tensor, mask: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Attend within x [B, L, D]; mask broadcasts to [B, H, L, L], True = visible."""
        q = self.split_heads(self.q_proj(x))  # [B, L, D] -> [B, H, L, Dh]
        k = self.split_heads(self.k_proj(x))  # [B, L, D] -> [B, H, L, Dh]
        v = self.split_heads(self.v_proj(x))  # [B, L, D] -> [B, H, L, Dh]
        scores = self.score(q, k)  # [B, H, L, L]
        weights = self.normalise(scores, mask)  # [B, H, L, L], rows sum to 1 or are 0
        context = self.dropout(weights) @ v  # [B, H, L, L] @ [B, H, L, Dh]
        output = self.out_proj(self.merge_heads(context))  # [B, H, L, Dh] -> [B, L, D]
        return output, weights

    def split_heads(self, features: torch.Tensor) -> torch.Tensor:
        """Give each head its own Dh of the D features."""
        features = features.unflatten(-1, (self.num_heads, self.head_dim))  # [B, L, H, Dh]
        return features.transpose(1, 2)  # [B, H, L, Dh]

    def score(self, q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
        """Compare each query with each key, at unit variance whatever the head size."""
        # Scaling q rather than the product keeps the sums inside the range of float16.
        q = q / math.sqrt(self.head_dim)  # [B, H, L, Dh]
        return q @ k.transpose(-2, -1)  # [B, H, L, Dh] @ [B, H, Dh, L]

    def normalise(self, scores: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
        """Turn scores into weights over the visible keys."""
        if mask is None:
            return scores.softmax(dim=-1)  # [B, H, L, L]
        # The lowest finite number, not -inf: a row without a visible key would be 0 / 0, NaN
        # forward and backward. It becomes uniform instead, and the second fill makes it 0.
        lowest = torch.finfo(scores.dtype).min
        weights = scores.masked_fill(~mask, lowest).softmax(dim=-1)  # [B, H, L, L]
        return weights.masked_fill(~mask, 0.0)  # [B, H, L, L]

    def merge_heads(self, context: torch.Tensor) -> torch.Tensor:
        """Put the heads side by side again, token by token."""
        return context.transpose(1, 2).flatten(-2)  # [B, L, H, Dh] -> [B, L, D]
