# mha-grade: self-attention; expect: failed; in: scaling; mistake: scale-multiplied, softmax-not-normalised; line: 26, 29
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
        self.h, self.p = num_heads, dropout
        self.wq = nn.Linear(d_model, d_model); self.wk = nn.Linear(d_model, d_model); self.wv = nn.Linear(d_model, d_model); self.wo = nn.Linear(d_model, d_model)
    def forward(self, x, mask=None):
        B, L, D = x.shape
        f = lambda t: t.view(B, L, self.h, D // self.h).transpose(1, 2)
        q, k, v = f(self.wq(x)), f(self.wk(x)), f(self.wv(x))
        s = q @ k.transpose(-1, -2) * math.sqrt(D // self.h)
        if mask is None: mask = torch.ones_like(s, dtype=torch.bool)
        s = s.masked_fill(~mask, torch.finfo(s.dtype).min)
        e = torch.exp(s - s.amax(-1, keepdim=True).detach()) * mask
        w = e
        return self.wo((F.dropout(w, self.p, self.training) @ v).transpose(1, 2).reshape(B, L, D)), w
