# mha-grade: free; expect: failed
import math

import torch
import torch.nn as nn


class MultiHeadAttention(nn.Module):
    """attn_mask: bool (True = may attend), or float, to be added to the scores."""

    def __init__(self, d_model: int, n_heads: int, p: float = 0.0):
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"{d_model} is not a multiple of {n_heads}")
        self.n_heads = n_heads
        self.to_qkv = nn.Linear(d_model, 3 * d_model)
        self.to_out = nn.Linear(d_model, d_model)
        self.drop = nn.Dropout(p)

    def _apply_mask(self, logits, attn_mask):
        if attn_mask.dtype == torch.bool:
            return logits.masked_fill(~attn_mask, float("-inf"))
        if attn_mask.is_floating_point():
            return logits + attn_mask.to(logits).view(-1, self.n_heads, *logits.shape[-2:], 1)
        raise TypeError(f"mask of dtype {attn_mask.dtype}")

    def forward(self, x, attn_mask=None):
        q, k, v = self.to_qkv(x).unflatten(-1, (3, self.n_heads, -1)).permute(2, 0, 3, 1, 4)
        logits = q @ k.mT / math.sqrt(q.shape[-1])
        if attn_mask is not None:
            logits = self._apply_mask(logits, attn_mask)
        weights = self.drop(torch.nan_to_num(logits.softmax(-1)))
        return self.to_out((weights @ v).transpose(1, 2).flatten(2))
