# mha-grade: self-attention; expect: failed; in: shapes; mistake: divisibility-check-reversed; line: 12
# Refuses what divides, and lets through what does not.
import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    """One projection for all three."""

    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        assert d_model % num_heads != 0 or d_model < num_heads
        self.heads = num_heads
        self.qkv = nn.Linear(d_model, 3 * d_model)
        self.proj = nn.Linear(d_model, d_model)
        self.drop = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        scores = q @ k.mT * q.shape[-1] ** -0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = scores.softmax(-1)
        if mask is not None:
            weights = weights * mask
        return self.proj((self.drop(weights) @ v).transpose(1, 2).flatten(2)), weights
