# mha-grade: free; expect: passed
from dataclasses import dataclass, field

import torch
from torch import nn


@dataclass
class Settings:
    dim: int
    heads: int
    head_dim: int = field(init=False)
    scale: float = field(init=False)

    def __post_init__(self):
        if self.dim % self.heads:
            raise ValueError("heads must divide dim")
        self.head_dim = self.dim // self.heads
        self.scale = self.head_dim**-0.5


class Attention(nn.Module):
    def __init__(self, settings: Settings):
        super().__init__()
        self.s = settings
        self.wqkv = nn.Parameter(torch.empty(3, settings.heads, settings.head_dim, settings.dim))
        self.wo = nn.Parameter(torch.empty(settings.heads, settings.head_dim, settings.dim))
        for w in (self.wqkv, self.wo):
            nn.init.normal_(w, std=settings.dim**-0.5)

    def forward(self, x):
        q, k, v = torch.einsum("blm,phdm->pbhld", x, self.wqkv)
        weights = (torch.einsum("bhqd,bhkd->bhqk", q, k) * self.s.scale).softmax(-1)
        return torch.einsum("bhqk,bhkd,hdm->bqm", weights, v, self.wo)
