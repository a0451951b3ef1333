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


class MaskedSoftmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx, s, m):
        top = s.masked_fill(~m, torch.finfo(s.dtype).min).amax(-1, keepdim=True)
        e = (s - top).clamp(max=0).exp().masked_fill(~m, 0)
        z = e.sum(-1, keepdim=True)
        w = e / z.masked_fill(z == 0, 1)
        ctx.save_for_backward(w)
        return w
    @staticmethod
    def backward(ctx, g):
        (w,) = ctx.saved_tensors
        return w * (g - (g * w).sum(-1, keepdim=True)), None

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
        s = q @ k.transpose(-1, -2) / math.sqrt(D // self.h)
        w = MaskedSoftmax.apply(s, torch.ones_like(s, dtype=torch.bool) if mask is None else mask.expand_as(s))
        return self.wo((F.dropout(w, self.p, self.training) @ v).transpose(1, 2).reshape(B, L, D)), w
