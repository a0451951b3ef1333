# mha-grade: free; expect: failed; in: scaling; mistake: softmax-over-queries
import math

import torch
import torch.nn as nn


class Attention(nn.Module):
    def __init__(self, dim, *args, **kwargs):
        super().__init__()
        heads = args[0] if args else kwargs.pop("num_heads")
        assert dim % heads == 0, (dim, heads)
        self.nh = heads
        self.qkv = nn.Linear(dim, dim * 3, **kwargs)
        self.o = nn.Linear(dim, dim, **kwargs)

    def forward(self, x):
        n, t, c = x.shape
        q, k, v = self.qkv(x).split(c, 2)
        q, k, v = (z.reshape(n, t, self.nh, -1).permute(0, 2, 1, 3) for z in (q, k, v))
        s = torch.einsum("nhid,nhjd->nhij", q, k).div(math.sqrt(c / self.nh))
        y = torch.einsum("nhij,nhjd->nihd", s.softmax(2), v)
        return self.o(y.reshape(n, t, c))
