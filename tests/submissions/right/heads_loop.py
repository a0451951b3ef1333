# mha-grade: cross-attention; expect: passed
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


class Head(nn.Module):
    def __init__(self, d_model, d_head, p):
        super().__init__()
        self.q = nn.Linear(d_model, d_head, bias=False); self.k = nn.Linear(d_model, d_head, bias=False); self.v = nn.Linear(d_model, d_head, bias=False)
        self.drop = nn.Dropout(p)
    def forward(self, q, k, v, m):
        q, k, v = self.q(q), self.k(k), self.v(v)
        a = safe(q @ k.transpose(1, 2) / math.sqrt(q.shape[-1]), m)
        return self.drop(a) @ v, a
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads: raise ValueError("no")
        self.heads = nn.ModuleList(Head(d_model, d_model // num_heads, dropout) for _ in range(num_heads))
        self.fc = nn.Linear(d_model, d_model)
    def forward(self, query, key, value, mask=None):
        B, Lq, Lk = query.size(0), query.size(1), key.size(1)
        m = None if mask is None else torch.broadcast_to(mask, (B, len(self.heads), Lq, Lk))
        outs, ws = zip(*(h(query, key, value, None if m is None else m[:, i]) for i, h in enumerate(self.heads)))
        return self.fc(torch.cat(outs, -1)), torch.stack(ws, 1)
