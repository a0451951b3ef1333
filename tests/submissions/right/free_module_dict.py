# mha-grade: free; expect: passed
import torch
from torch import nn


class MHA(nn.Module):
    def __init__(self, embed_dim, heads, bias=True):
        super().__init__()
        if embed_dim % heads:
            raise ValueError("embed_dim is not a multiple of heads")
        self.heads = heads
        self.proj = nn.ModuleDict({name: nn.Linear(embed_dim, embed_dim, bias=bias)
                                   for name in ("query", "key", "value", "output")})

    def split(self, name, x):
        return self.proj[name](x).unflatten(-1, (self.heads, -1)).transpose(-3, -2)

    def forward(self, *, query, key, value, mask=None):
        """Everything by name; mask (batch, query, key), True: attend"""
        q, k, v = self.split("query", query), self.split("key", key), self.split("value", value)
        s = q @ k.mT / q.shape[-1] ** 0.5
        if mask is not None:
            hide = ~mask.unsqueeze(-3)
            s = s.masked_fill(hide, torch.finfo(s.dtype).min)
            p = s.softmax(-1).masked_fill(hide, 0)
        else:
            p = s.softmax(-1)
        return self.proj["output"]((p @ v).transpose(-3, -2).flatten(-2))
