# mha-grade: free; expect: failed; in: dropout; mistake: dropout-misplaced; line: 39
import math

import torch
from torch import nn


class CachedCausalAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if d_model % n_heads:
            raise ValueError("d_model must be divisible by n_heads")
        self.h = n_heads
        self.dh = d_model // n_heads
        self.q = nn.Linear(d_model, d_model, bias=False)
        self.k = nn.Linear(d_model, d_model, bias=False)
        self.v = nn.Linear(d_model, d_model, bias=False)
        self.o = nn.Linear(d_model, d_model, bias=False)
        self.drop = nn.Dropout(dropout)

    def forward(self, x, kv_cache=None):
        """Returns the output and the cache to pass with the next tokens."""
        B, T, D = x.shape

        def heads(t):
            return t.view(B, T, self.h, self.dh).transpose(1, 2)

        q, k, v = heads(self.q(x)), heads(self.k(x)), heads(self.v(x))
        past = 0
        if kv_cache is not None:
            past_k, past_v = kv_cache
            past = past_k.size(2)
            k = torch.cat([past_k, k], dim=2)
            v = torch.cat([past_v, v], dim=2)
        S = k.size(2)
        visible = torch.ones(T, S, dtype=torch.bool, device=x.device).tril(diagonal=past)
        scores = (q @ k.transpose(-1, -2)) / math.sqrt(self.dh)
        scores = scores.masked_fill(~visible, float("-inf"))
        w = self.drop(scores).softmax(-1)
        y = (w @ v).transpose(1, 2).reshape(B, T, D)
        return self.o(y), (k, v)
