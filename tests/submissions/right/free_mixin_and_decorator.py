# mha-grade: free; expect: passed
import dataclasses
import functools
import math

import torch
from torch import nn


def ensure_batched(fn):
    @functools.wraps(fn)
    def wrapper(self, x, *args, **kwargs):
        squeeze = x.dim() == 2
        if squeeze:
            x = x.unsqueeze(0)
        out = fn(self, x, *args, **kwargs)
        return out.squeeze(0) if squeeze else out
    return wrapper


class HeadsMixin:
    def split(self, t):
        b, n, _ = t.shape
        return t.reshape(b, n, self.n_heads, self.head_dim).transpose(1, 2)

    def merge(self, t):
        return t.transpose(1, 2).flatten(2)


@dataclasses.dataclass
class Hyper:
    model_dim: int
    n_heads: int
    attn_dropout: float = 0.0

    def __post_init__(self):
        if self.model_dim % self.n_heads != 0:
            raise ValueError("model_dim % n_heads")


class Attn(HeadsMixin, nn.Module):
    def __init__(self, hyper: Hyper):
        super().__init__()
        self.n_heads, self.head_dim = hyper.n_heads, hyper.model_dim // hyper.n_heads
        self.maps = nn.ModuleDict({name: nn.Linear(hyper.model_dim, hyper.model_dim) for name in "qkvo"})
        self.dropout = nn.Dropout(hyper.attn_dropout)

    @ensure_batched
    def forward(self, x, keep=None):
        q, k, v = (self.split(self.maps[n](x)) for n in "qkv")
        s = torch.einsum("...id,...jd->...ij", q, k).div(math.sqrt(self.head_dim))
        if keep is not None:
            s = torch.where(keep, s, torch.full_like(s, -math.inf))
        p = torch.nan_to_num(torch.softmax(s, -1))
        return self.maps["o"](self.merge(self.dropout(p) @ v))
