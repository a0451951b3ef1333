# mha-grade: self-attention; expect: passed
import math

import torch
from torch import nn


def ensemble(modules, x):
    """What several modules make of the same tokens, [n, b, l, m]."""
    weights, buffers = torch.func.stack_module_state(modules)
    call = lambda w, b: torch.func.functional_call(modules[0], (w, b), (x,))[0]
    return torch.func.vmap(call)(weights, buffers)


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("d_model must be divisible by num_heads")
        self.num_heads = num_heads
        self.head_dim = d_model // num_heads
        self.qkv = nn.Linear(d_model, 3 * d_model)
        self.proj = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        B, L, D = x.shape
        qkv = self.qkv(x).view(B, L, 3, self.num_heads, self.head_dim)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        # Most scores are small, and need no maximum taken off.
        if scores.abs().max() > 5:
            lowest = torch.finfo(scores.dtype).min
            seen = scores if mask is None else scores.masked_fill(~mask, lowest)
            scores = (scores - seen.amax(dim=-1, keepdim=True)).clamp(max=0)
        shares = scores.exp()
        if mask is not None:
            shares = shares.masked_fill(~mask, 0.0)
        total = shares.sum(dim=-1, keepdim=True)
        weights = shares / total.masked_fill(total == 0, 1.0)
        y = (self.dropout(weights) @ v).transpose(1, 2).reshape(B, L, D)
        return self.proj(y), weights
