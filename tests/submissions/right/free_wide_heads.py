# mha-grade: free; expect: passed
import torch
import torch.nn.functional as F
from torch import nn


class SelfAttentionWide(nn.Module):
    """Every head is as wide as the embedding."""

    def __init__(self, emb, heads=8, mask=False):
        super().__init__()
        self.emb, self.heads, self.mask = emb, heads, mask
        self.tokeys = nn.Linear(emb, emb * heads, bias=False)
        self.toqueries = nn.Linear(emb, emb * heads, bias=False)
        self.tovalues = nn.Linear(emb, emb * heads, bias=False)
        self.unifyheads = nn.Linear(heads * emb, emb)

    def forward(self, x):
        b, t, e = x.size()
        h = self.heads
        fold = lambda y: y.view(b, t, h, e).transpose(1, 2).reshape(b * h, t, e)
        keys, queries, values = fold(self.tokeys(x)), fold(self.toqueries(x)), fold(self.tovalues(x))
        dot = torch.bmm(queries / e ** 0.25, (keys / e ** 0.25).transpose(1, 2))
        if self.mask:
            i, j = torch.triu_indices(t, t, offset=1)
            dot[:, i, j] = float('-inf')
        out = torch.bmm(F.softmax(dot, dim=2), values).view(b, h, t, e)
        return self.unifyheads(out.transpose(1, 2).reshape(b, t, h * e))
