# mha-grade: free; expect: failed; in: causal-mask; mistake: causal-diagonal-hidden; line: 20
import torch
from torch import nn


class SequenceFirstAttention(nn.Module):
    """x is (T, B, C)"""

    def __init__(self, h, d, dropout=0.):
        super().__init__()
        assert d % h == 0
        self.h, self.dh = h, d // h
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(d, d, bias=False) for _ in range(4))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        T, B, C = x.shape
        q, k, v = (w(x).view(T, B, self.h, self.dh) for w in (self.wq, self.wk, self.wv))
        s = torch.einsum('ibhd,jbhd->bhij', q, k) / self.dh ** 0.5
        future = torch.ones(T, T, device=x.device).triu() == 1
        p = s.masked_fill(future, float('-inf')).softmax(dim=-1)
        return self.wo(torch.einsum('bhij,jbhd->ibhd', self.dropout(p), v).flatten(2))
