# mha-grade: causal-self-attention; expect: passed
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


class CausalSelfAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads: raise ValueError("no")
        self.n_head = num_heads
        self.c_attn = nn.Linear(d_model, 3 * d_model, bias=False)
        self.c_proj = nn.Linear(d_model, d_model)
        self.attn_dropout = nn.Dropout(dropout)
    def forward(self, x, padding_mask=None):
        B, L, D = x.size()
        q, k, v = self.c_attn(x).split(D, dim=2)
        q, k, v = (t.reshape(B, L, self.n_head, D // self.n_head).transpose(1, 2) for t in (q, k, v))
        m = torch.ones(L, L, device=x.device, dtype=torch.bool).tril()
        if padding_mask is not None: m = m & padding_mask[:, None, None]
        a = safe(q @ k.transpose(-2, -1) * (1.0 / math.sqrt(k.size(-1))), m)
        y = (self.attn_dropout(a) @ v).transpose(1, 2).contiguous().view(B, L, D)
        return self.c_proj(y), a
