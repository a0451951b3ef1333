# mha-grade: free; expect: failed; in: causal-mask; mistake: causal-one-ahead
import math
import torch
import torch.nn as nn


def apply_rope(x, cos, sin):
    x1, x2 = x[..., : x.shape[-1] // 2], x[..., x.shape[-1] // 2 :]
    return torch.cat([x1 * cos - x2 * sin, x2 * cos + x1 * sin], dim=-1)


class Attention(nn.Module):
    def __init__(self, dim: int, n_heads: int):
        super().__init__()
        assert dim % n_heads == 0
        self.n_heads, self.head_dim = n_heads, dim // n_heads
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(dim, dim, bias=False) for _ in range(4))

    def forward(self, x):
        b, s, d = x.shape
        q, k, v = (w(x).view(b, s, self.n_heads, self.head_dim).transpose(1, 2) for w in (self.wq, self.wk, self.wv))
        freqs = 1.0 / 10000.0 ** (torch.arange(0, self.head_dim, 2, device=x.device).to(x.dtype) / self.head_dim)
        ang = torch.outer(torch.arange(s, device=x.device).to(x.dtype), freqs)
        q, k = apply_rope(q, ang.cos(), ang.sin()), apply_rope(k, ang.cos(), ang.sin())
        scores = q @ k.transpose(2, 3) / math.sqrt(self.head_dim)
        mask = torch.triu(torch.full((s, s), float("-inf"), device=x.device, dtype=x.dtype), diagonal=2)
        return self.wo(((scores + mask).softmax(-1) @ v).transpose(1, 2).reshape(b, s, d))
