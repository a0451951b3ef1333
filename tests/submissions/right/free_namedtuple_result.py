# mha-grade: free; expect: passed
from typing import NamedTuple, Optional

import torch
from torch import Tensor, nn


class AttentionOutput(NamedTuple):
    hidden: Tensor
    weights: Optional[Tensor]


class EncoderAttention(nn.Module):
    """Self-attention over a padded batch. `pad` is (batch, length), True at the padding."""

    def __init__(self, hidden_dim: int, num_heads: int, attention_dropout: float = 0.1) -> None:
        super().__init__()
        self.head_dim, remainder = divmod(hidden_dim, num_heads)
        if remainder != 0:
            raise ValueError("hidden_dim must be a multiple of num_heads")
        self.to_query = nn.Linear(hidden_dim, hidden_dim)
        self.to_key = nn.Linear(hidden_dim, hidden_dim)
        self.to_value = nn.Linear(hidden_dim, hidden_dim)
        self.to_output = nn.Linear(hidden_dim, hidden_dim)
        self.attention_dropout = nn.Dropout(attention_dropout)

    def forward(self, hidden: Tensor, pad: Optional[Tensor] = None) -> AttentionOutput:
        def heads(t: Tensor) -> Tensor:
            return t.unflatten(-1, (-1, self.head_dim)).transpose(1, 2)

        query = heads(self.to_query(hidden)) / self.head_dim**0.5
        key, value = heads(self.to_key(hidden)), heads(self.to_value(hidden))
        scores = query @ key.mT
        if pad is None:
            weights = scores.softmax(dim=-1)
        else:
            unseen = pad[:, None, None, :]
            weights = torch.masked_fill(scores, unseen, torch.finfo(scores.dtype).min).softmax(dim=-1)
            weights = weights.masked_fill(unseen, 0.0)
        mixed = self.attention_dropout(weights) @ value
        return AttentionOutput(self.to_output(mixed.transpose(1, 2).flatten(2)), weights)
