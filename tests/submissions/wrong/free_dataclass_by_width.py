# mha-grade: free; expect: failed; in: scaling; mistake: scale-by-sqrt-d-model
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Out:
    y: torch.Tensor
    weights: torch.Tensor


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        assert dim % heads == 0
        self.heads = heads
        self.qkv, self.o = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = (t.view(b, n, self.heads, -1).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        w = (q @ k.mT / d**0.5).softmax(-1)
        return Out(self.o((w @ v).transpose(1, 2).reshape(b, n, d)), w)
