# mha-grade: free; expect: failed; in: shapes; mistake: attention-over-heads; line: 16
import torch as t
from torch import nn


class A(nn.Module):
    def __init__(s, h, d):
        super().__init__()
        assert d % h == 0
        s.h, s.d = h, d // h
        s.q, s.k, s.v, s.o = [nn.Linear(d, d) for _ in range(4)]

    def forward(s, x):
        b, n, _ = x.shape
        q, k, v = [f(x).view(b, n, s.h, s.d) for f in (s.q, s.k, s.v)]
        a = t.softmax(q @ k.transpose(-2, -1) / s.d ** .5, -1)
        return s.o((a @ v).reshape(b, n, -1))
