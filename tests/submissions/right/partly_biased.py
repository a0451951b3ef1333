# mha-grade: cross-attention; expect: passed
from __future__ import annotations

import torch
from torch import Tensor, nn


class MultiHeadCrossAttention(nn.Module):
    """Like Whisper, no bias on the keys: it would cancel in the softmax anyway."""

    def __init__(self, n_state: int, n_head: int, dropout: float = 0.0):
        super().__init__()
        if n_state % n_head != 0:
            raise ValueError(f"n_state={n_state} must be a multiple of n_head={n_head}")
        self.n_head = n_head
        self.query = nn.Linear(n_state, n_state)
        self.key = nn.Linear(n_state, n_state, bias=False)
        self.value = nn.Linear(n_state, n_state)
        self.out = nn.Linear(n_state, n_state, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, xk: Tensor, xv: Tensor, mask: Tensor | None = None):
        q = self.query(x)
        k = self.key(xk)
        v = self.value(xv)

        n_batch, n_ctx, n_state = q.shape
        # d^-1/4 on both sides is d^-1/2 on the product, with smaller numbers on the way
        scale = (n_state // self.n_head) ** -0.25
        q = q.view(n_batch, n_ctx, self.n_head, -1).permute(0, 2, 1, 3) * scale
        k = k.view(n_batch, xk.shape[1], self.n_head, -1).permute(0, 2, 3, 1) * scale
        v = v.view(n_batch, xv.shape[1], self.n_head, -1).permute(0, 2, 1, 3)

        qk = q @ k
        if mask is not None:
            qk = qk.masked_fill(~mask, torch.finfo(qk.dtype).min)
        w = qk.softmax(dim=-1)
        if mask is not None:
            w = w.masked_fill(~mask, 0.0)
        wv = (self.dropout(w) @ v).permute(0, 2, 1, 3).flatten(start_dim=2)
        return self.out(wv), w
