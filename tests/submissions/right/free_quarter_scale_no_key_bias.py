# mha-grade: free; expect: passed
from typing import Optional

import torch
from torch import Tensor, nn


class MultiHeadAttention(nn.Module):
    def __init__(self, n_state: int, n_head: int):
        super().__init__()
        assert n_state % n_head == 0
        self.n_head = n_head
        self.query = nn.Linear(n_state, n_state)
        self.key = nn.Linear(n_state, n_state, bias=False)
        self.value = nn.Linear(n_state, n_state)
        self.out = nn.Linear(n_state, n_state)

    def forward(self, x: Tensor, xa: Optional[Tensor] = None, mask: Optional[Tensor] = None):
        """xa: what to attend to, x itself if left out; mask: added, at least (n_ctx, n_ctx)"""
        source = x if xa is None else xa
        wv, qk = self.qkv_attention(self.query(x), self.key(source), self.value(source), mask)
        return self.out(wv), qk

    def qkv_attention(self, q: Tensor, k: Tensor, v: Tensor, mask: Optional[Tensor]):
        n_ctx, n_src = q.shape[1], k.shape[1]
        scale = (q.shape[-1] // self.n_head) ** -0.25
        q = q.unflatten(-1, (self.n_head, -1)).permute(0, 2, 1, 3) * scale
        k = k.unflatten(-1, (self.n_head, -1)).permute(0, 2, 3, 1) * scale
        v = v.unflatten(-1, (self.n_head, -1)).permute(0, 2, 1, 3)
        qk = q @ k
        if mask is None:
            w = qk.softmax(dim=-1)
        else:
            mask = mask[:n_ctx, :n_src]
            empty = mask.isneginf().all(dim=-1, keepdim=True)
            qk = qk + mask.masked_fill(empty, 0.0)
            w = qk.softmax(dim=-1).masked_fill(empty, 0.0)
        return (w @ v).permute(0, 2, 1, 3).flatten(start_dim=2), qk.detach()
