# mha-grade: free; expect: failed; in: scaling; mistake: scale-by-sqrt-num-heads; line: 18
"""Attention written around a NamedTuple of projections and functional calls only."""
import math
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Heads(NamedTuple):
    q: Tensor
    k: Tensor
    v: Tensor


def attend(heads: Heads, keep: Tensor | None, p: float, training: bool) -> Tensor:
    logits = torch.einsum("nhid,nhjd->nhij", heads.q, heads.k).div(math.sqrt(heads.q.size(1)))
    if keep is None:
        share = logits.softmax(3)
    else:
        floor = torch.finfo(logits.dtype).min
        share = torch.where(keep, logits, logits.new_tensor(floor)).softmax(3)
        share = torch.where(keep, share, share.new_zeros(()))
    return torch.einsum("nhij,nhjd->nhid", F.dropout(share, p, training), heads.v)


class Mixer(nn.Module):
    def __init__(self, *, channels: int, groups_of_heads: int = 4, attn_p: float = 0.0):
        super().__init__()
        if channels % groups_of_heads != 0:
            raise ValueError(f"{channels} channels do not fall into {groups_of_heads} heads")
        self.n, self.p = groups_of_heads, attn_p
        self.into = nn.ModuleDict({name: nn.Linear(channels, channels) for name in "qkv"})
        self.back = nn.Linear(channels, channels)

    def _fold(self, name: str, x: Tensor) -> Tensor:
        return self.into[name](x).unflatten(2, (self.n, -1)).movedim(2, 1)

    def forward(self, tokens: Tensor, *, keep: Tensor | None = None) -> Tensor:
        keep = None if keep is None else keep[:, None, None, :]
        heads = Heads(*(self._fold(name, tokens) for name in "qkv"))
        return self.back(attend(heads, keep, self.p, self.training).movedim(1, 2).flatten(2))
