# mha-grade: free; expect: failed; in: scaling; mistake: rotary-no-rotation; line: 25
import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, dim, n_heads, max_len=2048, base=500000.0):
        super().__init__()
        if dim % n_heads:
            raise ValueError("dim must be divisible by n_heads")
        self.n_heads, self.hd = n_heads, dim // n_heads
        self.wq = nn.Linear(dim, dim, bias=False)
        self.wk = nn.Linear(dim, dim, bias=False)
        self.wv = nn.Linear(dim, dim, bias=False)
        self.wo = nn.Linear(dim, dim, bias=False)
        inv = base ** (-torch.arange(0, self.hd, 2, dtype=torch.float64) / self.hd)
        ang = torch.arange(max_len, dtype=torch.float64)[:, None] * inv
        self.register_buffer("cos", ang.cos(), persistent=False)
        self.register_buffer("sin", ang.sin(), persistent=False)

    def rope(self, x):
        n = x.shape[2]
        c, s = self.cos[:n].to(x.dtype), self.sin[:n].to(x.dtype)
        even, odd = x[..., ::2], x[..., 1::2]
        return torch.stack([even * c - odd * s, odd * s + even * c], -1).flatten(-2)

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = (w(x).view(b, n, self.n_heads, self.hd).transpose(1, 2) for w in (self.wq, self.wk, self.wv))
        q, k = self.rope(q), self.rope(k)
        s = q @ k.transpose(2, 3) / self.hd**0.5
        s = s.masked_fill(torch.ones(n, n, dtype=torch.bool, device=x.device).triu(1), float("-inf"))
        return self.wo((s.softmax(-1) @ v).transpose(1, 2).reshape(b, n, d))
