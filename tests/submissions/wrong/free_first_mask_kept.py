# mha-grade: free; expect: failed; in: state; mistake: state-kept; line: 19
import torch
from torch import nn


class CausalAttention(nn.Module):
    def __init__(self, n_heads, emb, *, dropout=0.0):
        super().__init__()
        if emb % n_heads:
            raise ValueError("emb is not a multiple of n_heads")
        self.n_heads = n_heads
        self.q, self.k, self.v, self.o = (nn.Linear(emb, emb) for _ in range(4))
        self.dropout = nn.Dropout(dropout)
        self.mask = None            # made when the length is known

    def forward(self, x):
        b, t, e = x.shape
        if self.mask is None:
            self.mask = torch.ones(t, t, dtype=torch.bool, device=x.device).triu(1)
        q, k, v = (f(x).view(b, t, self.n_heads, -1).transpose(1, 2) for f in (self.q, self.k, self.v))
        s = q @ k.mT / (e // self.n_heads) ** 0.5
        s = s.masked_fill(self.mask, -torch.inf)
        y = self.dropout(s.softmax(-1)) @ v
        return self.o(y.transpose(1, 2).reshape(b, t, e))
