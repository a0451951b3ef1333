# mha-grade: free; expect: failed; in: dropout; mistake: training-mode-differs; line: 26
"""Attention in small lanes, cut and joined by chunks."""
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, units, parts):
        super().__init__()
        if units % parts:
            raise ValueError("units must be a multiple of parts")
        self.parts = parts
        self.asks, self.offers, self.gives, self.exit = (nn.Linear(units, units) for _ in range(4))

    def cut(self, t):
        return torch.stack(t.chunk(self.parts, dim=-1), dim=1)

    def forward(self, sequence, allowed=None):
        q, k, v = self.cut(self.asks(sequence)), self.cut(self.offers(sequence)), self.cut(self.gives(sequence))
        energy = q.matmul(k.mT).div(q.size(-1) ** 0.5)
        if allowed is not None:
            energy = energy.masked_fill(~allowed, torch.finfo(energy.dtype).min)
        share = energy.softmax(-1)
        if allowed is not None:
            share = share * allowed
        share = share / share.sum(-2, keepdim=True).clamp_min(1e-6) if self.training else share
        return self.exit(torch.cat(share.matmul(v).unbind(1), dim=-1)), share
