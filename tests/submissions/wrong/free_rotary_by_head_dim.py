# mha-grade: free; expect: failed; in: scaling; mistake: scale-by-head-dim
import torch
import torch.nn as nn


def rotate_half(x):
    x1, x2 = x.chunk(2, dim=-1)
    return torch.cat((-x2, x1), dim=-1)


class RotaryAttention(nn.Module):
    def __init__(self, dim, n_heads):
        super().__init__()
        assert dim % n_heads == 0
        self.n_heads, self.head_dim = n_heads, dim // n_heads
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(dim, dim, bias=False) for _ in range(4))

    def cos_sin(self, n, x):
        inv = 1.0 / (10000 ** (torch.arange(0, self.head_dim, 2, device=x.device).float() / self.head_dim))
        f = torch.outer(torch.arange(n, device=x.device).float(), inv)
        f = torch.cat((f, f), dim=-1)
        return f.cos().to(x.dtype), f.sin().to(x.dtype)

    def forward(self, x):
        B, T, D = x.shape
        q, k, v = (w(x).view(B, T, self.n_heads, self.head_dim).transpose(1, 2) for w in (self.wq, self.wk, self.wv))
        cos, sin = self.cos_sin(T, x)
        q = q * cos + rotate_half(q) * sin
        k = k * cos + rotate_half(k) * sin
        att = (q @ k.transpose(-2, -1)) / self.head_dim
        att = att.masked_fill(torch.triu(torch.ones(T, T, device=x.device), 1).bool(), float("-inf")).softmax(-1)
        return self.wo((att @ v).transpose(1, 2).reshape(B, T, D))
