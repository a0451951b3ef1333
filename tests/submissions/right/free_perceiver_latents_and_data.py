# mha-grade: free; expect: passed
from typing import Optional

import torch
from torch import Tensor, nn


class CrossAttend(nn.Module):
    """A few latents read from the data; data_mask is [B, N], 1 where there is data."""

    def __init__(self, latent_dim: int, heads: int, dropout: float = 0.0):
        super().__init__()
        if latent_dim % heads:
            raise ValueError("heads must divide latent_dim")
        self.heads = heads
        self.read = nn.Linear(latent_dim, latent_dim, bias=False)
        self.data = nn.Linear(latent_dim, 2 * latent_dim, bias=False)
        self.write = nn.Linear(latent_dim, latent_dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, latents: Tensor, data: Tensor, data_mask: Optional[Tensor] = None) -> Tensor:
        k, v = self.data(data).chunk(2, -1)
        q, k, v = (t.unflatten(-1, (self.heads, -1)).movedim(-2, 1) for t in (self.read(latents), k, v))
        sim = (q @ k.mT).div(q.shape[-1] ** 0.5)
        if data_mask is None:
            p = sim.softmax(-1)
        else:
            absent = (data_mask == 0).unsqueeze(1).unsqueeze(2)
            p = sim.masked_fill(absent, torch.finfo(sim.dtype).min).softmax(-1).masked_fill(absent, 0.0)
        return self.write((self.dropout(p) @ v).movedim(1, -2).flatten(-2))
