# mha-grade: free; expect: failed; in: scaling; mistake: rotary-uneven
import torch
import torch.nn as nn


def rope(x):
    b, h, n, d = x.shape
    inv = 10000.0 ** (-torch.arange(0, d, 2, device=x.device, dtype=x.dtype) / d)
    ang = torch.arange(n, device=x.device, dtype=x.dtype)[:, None] * inv
    c, s = ang.cos(), ang.sin()
    a, b_ = x[..., ::2], x[..., 1::2]
    return torch.stack((a * c - b_ * s, a * s + b_ * c), -1).flatten(-2)


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        assert dim % heads == 0
        self.heads = heads
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(dim, dim, bias=False) for _ in range(4))

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = (w(x).view(b, n, self.heads, d // self.heads).transpose(1, 2) for w in (self.wq, self.wk, self.wv))
        q = rope(q)
        att = (q @ k.transpose(-2, -1) / (d // self.heads) ** 0.5).softmax(-1)
        return self.wo((att @ v).transpose(1, 2).reshape(b, n, d))
