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
        self.q_lin = nn.Linear(d_model, d_model); self.k_lin = nn.Linear(d_model, d_model); self.v_lin = nn.Linear(d_model, d_model); self.out_lin = nn.Linear(d_model, d_model)
        self.attn_dropout = nn.Dropout(dropout)
        self.register_buffer("tril", torch.ones(8, 8, dtype=torch.bool).tril(), persistent=False)
    def forward(self, x, padding_mask=None):
        B, L, D = x.size()
        if self.tril.size(0) < L:
            self.tril = torch.ones(L, L, dtype=torch.bool, device=x.device).tril()
        q, k, v = (f(x).reshape(B, L, self.n_head, D // self.n_head).transpose(1, 2) for f in (self.q_lin, self.k_lin, self.v_lin))
        m = self.tril[:L, :L]
        if padding_mask is not None: m = m & padding_mask[:, None, None]
        a = safe(q @ k.transpose(-2, -1) * (1.0 / math.sqrt(k.size(-1))), m)
        return self.out_lin((self.attn_dropout(a) @ v).transpose(1, 2).reshape(B, L, D)), a
