# mha-grade: free; expect: passed
import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, *, size: int, n_heads: int):
        super().__init__()
        if size % n_heads:
            raise ValueError("n_heads must divide size")
        self.n_heads = n_heads
        self.w = nn.ParameterDict({n: nn.Parameter(torch.randn(size, size) * size**-0.5) for n in "qkvo"})
        self.c = nn.ParameterDict({n: nn.Parameter(torch.zeros(size)) for n in "qkvo"})

    def forward(self, *, value, query, key, keep=None):
        b, l, m = query.shape
        q, k, v = (
            (t @ self.w[n] + self.c[n]).reshape(b, -1, self.n_heads, m // self.n_heads).transpose(1, 2)
            for n, t in (("q", query), ("k", key), ("v", value))
        )
        s = q @ k.transpose(2, 3) / (m // self.n_heads) ** 0.5
        if keep is not None:
            s = s.masked_fill(keep == 0, torch.finfo(s.dtype).min)
            p = s.softmax(-1) * (keep != 0)
        else:
            p = s.softmax(-1)
        return (p @ v).transpose(1, 2).reshape(b, l, m) @ self.w["o"] + self.c["o"]
