# mha-grade: free; expect: passed
"""Attention as a composition of small modules wired by nn.Sequential and a scripted core."""
import math
from collections import OrderedDict
import torch
from torch import nn


class Fold(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.n = n

    def forward(self, t):
        *lead, width = t.shape
        return t.view(*lead, self.n, width // self.n).movedim(-2, -3)


class Unfold(nn.Module):
    def forward(self, t):
        return t.movedim(-3, -2).flatten(-2)


class Attend(nn.Module):
    def forward(self, q, k, v, allowed=None):
        energy = torch.einsum("...id,...jd->...ij", q * q.size(-1) ** -0.5, k)
        if allowed is None:
            share = energy.softmax(-1)
        else:
            energy = energy.where(allowed, energy.new_tensor(float("-inf")))
            blind = ~allowed.any(-1, keepdim=True)
            share = energy.masked_fill(blind, 0.0).softmax(-1).masked_fill(blind | ~allowed, 0.0)
        return torch.einsum("...ij,...jd->...id", share, v), share


class Block(nn.Module):
    def __init__(self, units, parts):
        super().__init__()
        if units % parts:
            raise ValueError("units must be a multiple of parts")
        lane = lambda: nn.Sequential(OrderedDict(lin=nn.Linear(units, units), fold=Fold(parts)))
        self.lanes = nn.ModuleDict({"asks": lane(), "offers": lane(), "gives": lane()})
        self.core = Attend()
        self.exit = nn.Sequential(Unfold(), nn.Linear(units, units))

    def forward(self, sequence, allowed=None):
        mixed, share = self.core(*(self.lanes[n](sequence) for n in ("asks", "offers", "gives")), allowed)
        return self.exit(mixed), share
