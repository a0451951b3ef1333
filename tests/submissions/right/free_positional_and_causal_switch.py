# mha-grade: free; expect: passed
from __future__ import annotations

import math
from typing import Final

import torch
from torch import Tensor, nn


class Attention(nn.Module):
    heads: Final[int]
    scale: Final[float]

    def __init__(self, features: int, heads: int, /, *, bias: bool = True) -> None:
        super().__init__()
        if features % heads != 0:
            raise ValueError(f"{features} % {heads} != 0")
        self.heads = heads
        self.scale = 1.0 / math.sqrt(features // heads)
        self.query = nn.Linear(features, features, bias=bias)
        self.key = nn.Linear(features, features, bias=bias)
        self.value = nn.Linear(features, features, bias=bias)
        self.output = nn.Linear(features, features, bias=bias)

    def forward(self, query: Tensor, key: Tensor | None = None, value: Tensor | None = None, /, *,
                mask: Tensor | None = None, causal: bool = False) -> Tensor:
        key = query if key is None else key
        value = key if value is None else value
        q = self.query(query).unflatten(-1, (self.heads, -1)).transpose(-3, -2)
        k = self.key(key).unflatten(-1, (self.heads, -1)).transpose(-3, -2)
        v = self.value(value).unflatten(-1, (self.heads, -1)).transpose(-3, -2)
        scores = torch.matmul(q, k.transpose(-2, -1)) * self.scale
        if causal:
            ok = torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device).tril(scores.shape[-1] - scores.shape[-2])
            mask = ok if mask is None else mask & ok
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf)
        weights = scores.softmax(-1).nan_to_num(0.0)
        return self.output(torch.matmul(weights, v).transpose(-3, -2).flatten(-2))
