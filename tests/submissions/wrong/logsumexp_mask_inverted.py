# mha-grade: cross-attention; expect: failed; in: cross-attention; mistake: mask-inverted; line: 36
from math import sqrt

import torch
from torch import Tensor, nn


class Reader(nn.Module):
    def __init__(self, d_model: int, num_heads: int, dropout: float = 0.0) -> None:
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"d_model {d_model} is no multiple of num_heads {num_heads}")
        self.num_heads, self.root = num_heads, sqrt(d_model // num_heads)
        self.ask = nn.Linear(d_model, d_model)
        self.offer = nn.Linear(d_model, d_model)
        self.carry = nn.Linear(d_model, d_model)
        self.answer = nn.Linear(d_model, d_model)
        self.noise = nn.Dropout(dropout)

    def cut(self, tokens: Tensor) -> Tensor:
        return torch.stack(tokens.chunk(self.num_heads, dim=-1), dim=1)

    def glue(self, heads: Tensor) -> Tensor:
        return torch.cat(heads.unbind(1), dim=-1)

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None):
        asked, offered = self.cut(self.ask(query)), self.cut(self.offer(key))
        scores = asked @ offered.transpose(-2, -1) / self.root
        shares = self.share(scores, mask)
        return self.answer(self.glue(self.noise(shares) @ self.cut(self.carry(value)))), shares

    def share(self, scores: Tensor, mask: Tensor | None) -> Tensor:
        if mask is None:
            return torch.exp(scores - torch.logsumexp(scores, -1, keepdim=True))
        low = torch.finfo(scores.dtype).min
        scores = scores.masked_fill(mask, low)
        shares = torch.exp(scores - torch.logsumexp(scores, -1, keepdim=True))
        return shares.masked_fill(mask, 0)
