# mha-grade: self-attention; expect: passed
from __future__ import annotations
import math
import torch
from torch import nn, Tensor
import torch.nn.functional as F


def safe(scores, mask):
    if mask is None:
        return scores.softmax(-1)
    scores = scores.masked_fill(mask.logical_not(), torch.finfo(scores.dtype).min)
    return scores.softmax(-1) * mask


from dataclasses import dataclass
from typing import NamedTuple, Optional, Tuple
Mask = Optional[Tensor]
@dataclass
class Config:
    d_model: int
    num_heads: int
    dropout: float
    @property
    def d_head(self): return self.d_model // self.num_heads
class AttnOut(NamedTuple):
    output: Tensor
    weights: Tensor
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int, dropout: float = 0.0):
        super().__init__()
        if num_heads * (d_model // num_heads) != d_model: raise ValueError("indivisible")
        self.cfg = Config(d_model, num_heads, dropout)
        for n in ("W_query", "W_key", "W_value", "out_proj"):
            self.add_module(n, nn.Linear(d_model, d_model))
    def forward(self, x: Tensor, mask: Mask = None) -> Tuple[Tensor, Tensor]:
        c = self.cfg
        q, k, v = (getattr(self, "W_" + n)(x).reshape(*x.shape[:2], c.num_heads, c.d_head).movedim(2, 1) for n in ("query", "key", "value"))
        w = safe(q @ k.mT / math.sqrt(c.d_head), mask)
        o = self.out_proj((F.dropout(w, c.dropout, self.training) @ v).movedim(1, 2).reshape(x.shape))
        return AttnOut(o, w)
