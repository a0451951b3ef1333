# mha-grade: self-attention; expect: passed
import torch
from torch import nn


class MHA(nn.Module):
    def __init__(self, n, m, p=0.0):
        super().__init__()
        if n % m:
            raise ValueError("n must be a multiple of m")
        self.m, self.s = m, (n // m) ** 0.5
        self.a = nn.Linear(n, n)  # keys
        self.b = nn.Linear(n, n)  # values
        self.c = nn.Linear(n, n)  # queries
        self.d = nn.Linear(n, n)  # output
        self.e = nn.Dropout(p)

    def forward(self, x, mask=None):
        abc = [f(x).unflatten(2, (self.m, -1)) for f in (self.a, self.b, self.c)]
        a, b, c = (t.transpose(1, 2) for t in abc)
        w = (c / self.s) @ a.transpose(2, 3)
        if mask is not None:
            w = w.masked_fill(~mask, torch.finfo(w.dtype).min)
        w = w.softmax(3)
        if mask is not None:
            w = w * mask
        y = self.e(w) @ b
        return self.d(y.transpose(1, 2).flatten(2)), w
