# mha-grade: free; expect: failed; in: dropout; mistake: dropout-always-on; line: 35
import torch
import torch.nn as nn
import torch.nn.functional as F


class SpiralAttention(nn.Module):
    """Positions turn queries and keys in a way of its own, a little past the circle."""

    def __init__(self, d_model, num_heads, dropout=0.1):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("d_model must be divisible by num_heads")
        self.h, self.d = num_heads, d_model // num_heads
        self.q = nn.Linear(d_model, d_model)
        self.k = nn.Linear(d_model, d_model)
        self.v = nn.Linear(d_model, d_model)
        self.o = nn.Linear(d_model, d_model)
        self.p = dropout

    def turn(self, x):
        n = x.shape[-2]
        place = torch.arange(n, device=x.device, dtype=x.dtype)
        angle = torch.outer(place, torch.linspace(0.1, 1.0, self.d, dtype=x.dtype))
        return x * angle.cos() + x.roll(1, -1) * angle.sin()

    def forward(self, x):
        b, n, m = x.shape
        q, k, v = (
            layer(x).view(b, n, self.h, self.d).transpose(1, 2)
            for layer in (self.q, self.k, self.v)
        )
        q, k = self.turn(q), self.turn(k)
        w = (q @ k.transpose(-2, -1) / self.d**0.5).softmax(-1)
        w = F.dropout(w, self.p)
        return self.o((w @ v).transpose(1, 2).reshape(b, n, m))
