# mha-grade: free; expect: failed; in: causal-mask; mistake: causal-one-ahead
import torch
import torch.nn as nn


class Attention(nn.Module):
    def __init__(self, dim, heads=8, causal=False):
        super().__init__()
        assert dim % heads == 0
        self.heads, self.causal = heads, causal
        self.to_qkv = nn.Linear(dim, dim * 3, bias=False)
        self.to_out = nn.Linear(dim, dim)

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = self.to_qkv(x).chunk(3, dim=-1)
        q, k, v = (t.reshape(b, n, self.heads, -1).transpose(1, 2) for t in (q, k, v))
        dots = q @ k.transpose(-1, -2) * (d // self.heads) ** -0.5
        if self.causal:
            mask = torch.ones(n, n, device=x.device).triu(2).bool()
            dots = dots.masked_fill(mask, float("-inf"))
        return self.to_out((dots.softmax(-1) @ v).transpose(1, 2).reshape(b, n, d))
