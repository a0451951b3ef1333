# mha-grade: self-attention; expect: passed
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


from dataclasses import dataclass, field
@dataclass(eq=False)
class MultiHeadAttention(nn.Module):
    d_model: int
    num_heads: int
    dropout: float = 0.0
    def __post_init__(self):
        super().__init__()
        if self.d_model % self.num_heads: raise ValueError("indivisible")
        self.proj = nn.Linear(self.d_model, 3 * self.d_model)
        self.out = nn.Linear(self.d_model, self.d_model)
    def forward(self, x, mask=None):
        B, L, D = x.shape
        q, k, v = self.proj(x).view(B, L, 3, self.num_heads, -1).permute(2, 0, 3, 1, 4)
        w = safe(q @ k.mT / math.sqrt(q.size(-1)), mask)
        return self.out((F.dropout(w, self.dropout, self.training) @ v).transpose(1, 2).reshape(x.shape)), w
