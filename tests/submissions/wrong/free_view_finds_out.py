# mha-grade: free; expect: failed; in: divisibility; mistake: divisibility-checked-late; line: 29
from dataclasses import dataclass

import torch
import torch.nn as nn


@dataclass
class Config:
    dim: int = 64
    num_heads: int = 4
    max_seq: int = 64
    p: float = 0.0


class CausalMHA(nn.Module):
    def __init__(self, cfg: Config):
        super().__init__()
        self.cfg = cfg
        self.wqkv = nn.Linear(cfg.dim, 3 * cfg.dim, bias=False)
        self.wo = nn.Linear(cfg.dim, cfg.dim, bias=False)
        self.drop = nn.Dropout(cfg.p)
        self.register_buffer("tril", torch.ones(cfg.max_seq, cfg.max_seq).tril() == 1)

    def forward(self, x):
        b, t, c = x.shape
        h = self.cfg.num_heads
        q, k, v = self.wqkv(x).split(c, dim=-1)
        q, k, v = (y.view(b, t, h, c // h).transpose(1, 2) for y in (q, k, v))
        a = (q @ k.transpose(-1, -2)) / (c // h) ** 0.5
        a = a.masked_fill(~self.tril[:t, :t], float("-inf")).softmax(-1)
        return self.wo((self.drop(a) @ v).transpose(1, 2).reshape(b, t, c))
