# mha-grade: free; expect: failed; in: mixed-precision; mistake: exp-overflow; line: 18
import torch as th
from torch import nn


class QKVAttention(nn.Module):
    def __init__(self, n_heads, channels):
        super().__init__()
        if channels % n_heads:
            raise ValueError("channels % n_heads != 0")
        self.n_heads = n_heads
        self.qkv = nn.Linear(channels, channels * 3)
        self.out = nn.Linear(channels, channels)

    def forward(self, x):
        bs, length, width = x.shape
        q, k, v = self.qkv(x).view(bs, length, self.n_heads, 3, -1).permute(3, 0, 2, 1, 4)
        weight = th.exp(q @ k.transpose(-1, -2) * (width // self.n_heads) ** -0.5)
        a = weight @ v / weight.sum(dim=-1, keepdim=True)
        return self.out(a.transpose(1, 2).reshape(bs, length, width))
