# mha-grade: self-attention; expect: failed; in: mixed-precision; mistake: exp-overflow; line: 32
import torch
from torch import nn


class MultiheadSelfAttention(nn.Module):
    """Softmax by hand, and heads by index."""

    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("d_model must be divisible by num_heads")
        self.h, self.d = num_heads, d_model // num_heads
        self.q = nn.ModuleList(nn.Linear(d_model, self.d) for _ in range(num_heads))
        self.k = nn.ModuleList(nn.Linear(d_model, self.d) for _ in range(num_heads))
        self.v = nn.ModuleList(nn.Linear(d_model, self.d) for _ in range(num_heads))
        self.o = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        outs, maps = [], []
        full = (x.size(0), self.h, x.size(1), x.size(1))
        mask = None if mask is None else mask.expand(full)
        for i in range(self.h):
            scores = self.q[i](x) @ self.k[i](x).transpose(-1, -2) * self.d**-0.5
            a = self.softmax(scores, None if mask is None else mask[:, i])
            outs.append(self.dropout(a) @ self.v[i](x))
            maps.append(a)
        return self.o(torch.cat(outs, -1)), torch.stack(maps, 1)

    def softmax(self, scores, mask):
        e = torch.exp(scores)
        if mask is not None:
            e = torch.where(mask, e, torch.zeros_like(e))
        total = e.sum(-1, keepdim=True)
        return e / total.masked_fill(total == 0, 1)
