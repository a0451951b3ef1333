# mha-grade: free; expect: failed; in: padding-mask; mistake: padding-leaks
import torch
import torch.nn as nn


class SelfAttention(nn.Module):
    def __init__(self, dim, num_heads):
        super().__init__()
        if dim % num_heads:
            raise ValueError("sizes")
        self.num_heads = num_heads
        self.q = nn.Linear(dim, dim)
        self.k = nn.Linear(dim, dim)
        self.v = nn.Linear(dim, dim)
        self.o = nn.Linear(dim, dim)

    def forward(self, x, valid=None):
        B, N, C = x.shape
        split = lambda t: t.view(B, N, self.num_heads, -1).transpose(1, 2)
        q, k, v = split(self.q(x)), split(self.k(x)), split(self.v(x))
        if valid is not None:
            k = k * valid[:, None, :, None]
            v = v * valid[:, None, :, None]
        att = (q @ k.mT * (C // self.num_heads) ** -0.5).softmax(-1)
        out = self.o((att @ v).transpose(1, 2).reshape(B, N, C))
        return out if valid is None else out * valid.unsqueeze(-1)
