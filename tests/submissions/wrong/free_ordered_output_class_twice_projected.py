# mha-grade: free; expect: failed; in: scaling; mistake: output-projection-twice
from collections import OrderedDict

import torch
from torch import nn


class AttentionOutput(OrderedDict):
    """Items by name, and by attribute as well."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


class SelfAttention(nn.Module):
    def __init__(self, dim, num_heads, qkv_bias=True):
        super().__init__()
        self.num_heads = num_heads
        if dim % num_heads:
            raise ValueError(f"dim {dim} should be divided by num_heads {num_heads}")
        self.qkv = nn.Linear(dim, dim * 3, bias=qkv_bias)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        n, l, c = x.shape
        q, k, v = self.qkv(x).reshape(n, l, 3, self.num_heads, c // self.num_heads).permute(2, 0, 3, 1, 4)
        weights = ((q * (c // self.num_heads) ** -0.5) @ k.transpose(-2, -1)).softmax(dim=-1)
        hidden = self.proj(self.proj((weights @ v).transpose(1, 2).reshape(n, l, c)))
        return AttentionOutput(last_hidden_state=hidden, attentions=weights)
