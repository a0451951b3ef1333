# mha-grade: free; expect: passed
from typing import Optional, Tuple

import torch
import torch.nn as nn


class CausalSelfAttention(nn.Module):
    """Causal attention with an optional key/value cache: returns (y, new_cache)."""

    def __init__(self, d_model: int, n_head: int, attn_pdrop: float = 0.0):
        super().__init__()
        assert d_model % n_head == 0
        self.n_head = n_head
        self.to_qkv = nn.Linear(d_model, d_model * 3, bias=False)
        self.to_out = nn.Linear(d_model, d_model, bias=False)
        self.attn_drop = nn.Dropout(attn_pdrop)

    def forward(self, x: torch.Tensor, past_kv: Optional[Tuple[torch.Tensor, torch.Tensor]] = None):
        b, t, d = x.shape
        q, k, v = self.to_qkv(x).split(d, dim=-1)
        q, k, v = (y.view(b, t, self.n_head, d // self.n_head).transpose(1, 2) for y in (q, k, v))
        if past_kv is not None:
            k = torch.cat([past_kv[0], k], dim=2)
            v = torch.cat([past_kv[1], v], dim=2)
        s = q @ k.transpose(-2, -1) * (d // self.n_head) ** -0.5
        total = k.size(2)
        rows = torch.arange(total - t, total, device=x.device)
        s = s.masked_fill(torch.arange(total, device=x.device)[None] > rows[:, None], float("-inf"))
        y = (self.attn_drop(s.softmax(-1)) @ v).transpose(1, 2).reshape(b, t, d)
        return self.to_out(y), (k, v)
