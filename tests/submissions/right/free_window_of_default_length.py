# mha-grade: free; expect: passed
# Sees 64 tokens back unless told otherwise; told more, everything.
import torch
from torch import nn


class LocalAttention(nn.Module):
    def __init__(self, dim, heads, window=64):
        super().__init__()
        if dim % heads:
            raise ValueError("dim is not divisible by heads")
        self.heads, self.window = heads, window
        self.to_qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.to_out = nn.Linear(dim, dim, bias=False)

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = self.to_qkv(x).view(b, n, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        ago = torch.arange(n, device=x.device)[:, None] - torch.arange(n, device=x.device)
        hidden = (ago < 0) | (ago >= self.window)
        scores = (q * q.shape[-1] ** -0.5) @ k.transpose(-2, -1)
        scores = scores.masked_fill(hidden, torch.finfo(scores.dtype).min)
        return self.to_out((scores.softmax(dim=-1) @ v).transpose(1, 2).reshape(b, n, d))
