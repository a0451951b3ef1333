# mha-grade: self-attention; expect: passed
from __future__ import annotations
import math
import torch
from torch import nn, Tensor
import torch.nn.functional as F


def safe(scores, mask):
    if mask is None:
        return scores.softmax(-1)
    scores = scores.masked_fill(mask.logical_not(), torch.finfo(scores.dtype).min)
    return scores.softmax(-1) * mask


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads: raise ValueError("no")
        dh = d_model // num_heads
        self.toq = nn.ModuleList([nn.Linear(d_model, dh) for _ in range(num_heads)])
        self.tok = nn.ModuleList([nn.Linear(d_model, dh) for _ in range(num_heads)])
        self.tov = nn.ModuleList([nn.Linear(d_model, dh) for _ in range(num_heads)])
        self.unify = nn.Linear(d_model, d_model, bias=False)
        self.p = dropout
    def forward(self, x, mask=None):
        st = lambda ms: torch.stack([m(x) for m in ms], dim=1)
        q, k, v = st(self.toq), st(self.tok), st(self.tov)
        w = safe(torch.matmul(q, k.transpose(-1, -2)) / q.size(-1) ** 0.5, mask)
        c = torch.matmul(F.dropout(w, self.p, self.training), v)
        return self.unify(torch.cat(c.unbind(1), dim=-1)), w
