# mha-grade: free; expect: failed; in: causal-mask; mistake: causal-reversed
from dataclasses import dataclass

import torch
import torch.nn as nn


@dataclass
class Config:
    hidden: int = 64
    heads: int = 4
    is_causal: bool = False


class SelfAttention(nn.Module):
    def __init__(self, cfg: Config):
        super().__init__()
        if cfg.hidden % cfg.heads:
            raise ValueError("hidden % heads")
        self.cfg = cfg
        self.qkv = nn.Linear(cfg.hidden, 3 * cfg.hidden)
        self.o = nn.Linear(cfg.hidden, cfg.hidden)

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = (t.view(b, n, self.cfg.heads, -1).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        s = q @ k.transpose(-1, -2) / (d // self.cfg.heads) ** 0.5
        if self.cfg.is_causal:
            s = s + torch.ones(n, n, device=x.device, dtype=x.dtype).tril().log().T
        return self.o((s.softmax(-1) @ v).transpose(1, 2).reshape(b, n, d))
