# mha-grade: self-attention; expect: passed
from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class HeadLayout:
    """How the model width is divided among the heads."""

    d_model: int
    num_heads: int

    def __post_init__(self) -> None:
        if self.d_model % self.num_heads != 0:
            raise ValueError(f"{self.num_heads} heads do not divide a width of {self.d_model}")

    @property
    def head_dim(self) -> int:
        return self.d_model // self.num_heads

    def split(self, features: Tensor) -> Tensor:
        batch, length, _ = features.shape
        return features.reshape(batch, length, self.num_heads, self.head_dim).transpose(1, 2)

    def merge(self, heads: Tensor) -> Tensor:
        batch, _, length, _ = heads.shape
        return heads.transpose(1, 2).reshape(batch, length, self.d_model)


class AttentionResult(NamedTuple):
    output: Tensor
    weights: Tensor


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.layout = HeadLayout(d_model, num_heads)
        self.query_projection: nn.Linear = nn.Linear(d_model, d_model)
        self.key_projection: nn.Linear = nn.Linear(d_model, d_model)
        self.value_projection: nn.Linear = nn.Linear(d_model, d_model)
        self.output_projection: nn.Linear = nn.Linear(d_model, d_model)
        self.attention_dropout: nn.Dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> AttentionResult:
        queries: Tensor = self.layout.split(self.query_projection(x))
        keys: Tensor = self.layout.split(self.key_projection(x))
        values: Tensor = self.layout.split(self.value_projection(x))

        scores: Tensor = queries @ keys.transpose(-2, -1) / self.layout.head_dim**0.5
        weights: Tensor = self._masked_softmax(scores, mask)
        context: Tensor = self.attention_dropout(weights) @ values
        return AttentionResult(self.output_projection(self.layout.merge(context)), weights)

    @staticmethod
    def _masked_softmax(scores: Tensor, mask: Tensor | None) -> Tensor:
        if mask is None:
            return scores.softmax(dim=-1)
        hidden: Tensor = ~mask
        filled: Tensor = scores.masked_fill(hidden, torch.finfo(scores.dtype).min)
        return filled.softmax(dim=-1).masked_fill(hidden, 0.0)
