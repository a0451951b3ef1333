# mha-grade: self-attention; expect: passed
from __future__ import annotations
import math
import torch
from torch import nn, Tensor
import torch.nn.functional as F


@torch.jit.script
def attn(q: Tensor, k: Tensor, v: Tensor, vis: Tensor, p: float, training: bool):
    s = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(q.size(-1))
    s = s.masked_fill(~vis, -torch.finfo(s.dtype).max)
    w = torch.softmax(s, dim=-1) * vis
    return torch.matmul(F.dropout(w, p, training), v), w
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads: raise ValueError("no")
        self.h, self.p = num_heads, dropout
        self.wq = nn.Linear(d_model, d_model); self.wk = nn.Linear(d_model, d_model); self.wv = nn.Linear(d_model, d_model); self.wo = nn.Linear(d_model, d_model)
    def forward(self, x, mask=None):
        B, L, D = x.shape
        f = lambda t: t.view(B, L, self.h, D // self.h).transpose(1, 2)
        if mask is None: mask = torch.ones(1, 1, 1, 1, dtype=torch.bool, device=x.device)
        c, w = attn(f(self.wq(x)), f(self.wk(x)), f(self.wv(x)), mask, self.p, self.training)
        return self.wo(c.transpose(1, 2).reshape(B, L, D)), w
