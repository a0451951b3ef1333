# mha-grade: free; expect: passed
import math

import torch
import torch.nn as nn


class MultiHeadAttention(nn.Module):
    """attn_mask: bool (True = may attend) of two to four axes; anything else is refused."""

    def __init__(self, d_model: int, n_heads: int, p: float = 0.0):
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"{d_model} is not a multiple of {n_heads}")
        self.n_heads = n_heads
        self.to_qkv = nn.Linear(d_model, 3 * d_model)
        self.to_out = nn.Linear(d_model, d_model)
        self.drop = nn.Dropout(p)

    def check_mask(self, attn_mask, shape):
        if attn_mask.dtype != torch.bool:
            raise TypeError(
                f"attn_mask must be bool, got {attn_mask.dtype}; "
                "for additive masks use attn_mask == 0"
            )
        if attn_mask.dim() == 3:
            raise ValueError("a mask of three axes could be [B, L, L] or [H, L, L]: give four")
        if attn_mask.dim() == 2:
            attn_mask = attn_mask[None, None]
        return attn_mask.expand(shape)

    def forward(self, x, attn_mask=None):
        q, k, v = self.to_qkv(x).unflatten(-1, (3, self.n_heads, -1)).permute(2, 0, 3, 1, 4)
        logits = q @ k.mT / math.sqrt(q.shape[-1])
        if attn_mask is not None:
            logits = logits.masked_fill(~self.check_mask(attn_mask, logits.shape), float("-inf"))
        weights = self.drop(torch.nan_to_num(logits.softmax(-1)))
        return self.to_out((weights @ v).transpose(1, 2).flatten(2))
