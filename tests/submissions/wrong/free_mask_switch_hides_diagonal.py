# mha-grade: free; expect: failed; in: causal-mask; mistake: causal-diagonal-masked
import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, emb, heads=8, mask=False):
        super().__init__()
        assert emb % heads == 0
        self.heads, self.mask = heads, mask
        self.toqkv = nn.Linear(emb, 3 * emb, bias=False)
        self.unifyheads = nn.Linear(emb, emb)

    def forward(self, x):
        b, t, e = x.size()
        k, q, v = (y.view(b, t, self.heads, -1).transpose(1, 2) for y in self.toqkv(x).chunk(3, -1))
        dot = q @ k.transpose(-1, -2) / (e // self.heads) ** 0.5
        if self.mask:
            i = torch.triu_indices(t, t, offset=0)
            dot = dot.clone()
            dot[..., i[0], i[1]] = float("-inf")
        return self.unifyheads((dot.softmax(-1) @ v).transpose(1, 2).reshape(b, t, e))
