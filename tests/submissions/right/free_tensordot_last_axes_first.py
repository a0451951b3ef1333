# mha-grade: free; expect: passed
import torch
from torch import nn


class TensordotAttention(nn.Module):
    def __init__(self, width, n_heads):
        super().__init__()
        if width % n_heads:
            raise ValueError("n_heads must divide width")
        size = width // n_heads
        new = lambda *shape: nn.Parameter(torch.randn(*shape) * width**-0.5)
        self.Q, self.K, self.V = new(width, n_heads, size), new(width, n_heads, size), new(width, n_heads, size)
        self.O = new(n_heads, size, width)

    def forward(self, x):
        q, k, v = (torch.tensordot(x, w, dims=1) for w in (self.Q, self.K, self.V))  # b l h d
        logits = (q.unsqueeze(2) * k.unsqueeze(1)).sum(-1) * q.shape[-1] ** -0.5  # b q k h
        weights = torch.softmax(logits, dim=2)
        mixed = (weights.unsqueeze(-1) * v.unsqueeze(1)).sum(2)  # b q h d
        return torch.einsum("bqhd,hdm->bqm", mixed, self.O)
