# mha-grade: free; expect: failed; in: scaling; mistake: scale-by-sqrt-length
import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, *sizes):
        super().__init__()
        width, heads = sizes
        if width % heads:
            raise ValueError("sizes do not fit")
        self.heads = heads
        self.layers = nn.ModuleDict({name: nn.Linear(width, width) for name in ["ask", "offer", "give", "merge"]})

    def forward(self, x):
        parts = {n: self.layers[n](x).unflatten(-1, (self.heads, -1)).transpose(1, 2) for n in ("ask", "offer", "give")}
        root = parts["ask"].shape[-2] ** 0.5
        scores = (parts["ask"] / root) @ parts["offer"].transpose(-1, -2)
        mixed = scores.softmax(-1) @ parts["give"]
        return self.layers["merge"](mixed.transpose(1, 2).flatten(2))
