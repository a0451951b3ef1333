# mha-grade: free; expect: passed
import torch
from torch import nn


class ColumnShard(nn.Module):
    """What one rank holds: its slice of q, k and v, and its rows of the output."""

    def __init__(self, width, size):
        super().__init__()
        self.qkv = nn.Linear(width, 3 * size, bias=False)
        self.out = nn.Linear(size, width, bias=False)

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        return self.out(torch.softmax(q @ k.transpose(1, 2) / q.shape[-1] ** 0.5, dim=-1) @ v)


class ShardedAttention(nn.Module):
    def __init__(self, width, world_heads):
        super().__init__()
        if width % world_heads:
            raise ValueError("every rank needs as many columns")
        self.ranks = nn.ModuleList(ColumnShard(width, width // world_heads) for _ in range(world_heads))
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, x):
        parts = [rank(x) for rank in self.ranks]
        return torch.stack(parts).sum(0) + self.bias  # all-reduce
