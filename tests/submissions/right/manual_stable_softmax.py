# mha-grade: self-attention; expect: passed
import math

import torch
from torch import nn


def masked_softmax(scores, mask):
    """Softmax over the last axis; 0 where hidden, and 0 everywhere in a row all hidden."""
    if mask is None:
        mask = torch.ones_like(scores, dtype=torch.bool)
    scores = torch.where(mask, scores, torch.finfo(scores.dtype).min)
    peak = scores.amax(dim=-1, keepdim=True).detach()  # the shift cancels, so no gradient
    e = torch.where(mask, torch.exp(scores - peak), 0.0)
    total = e.sum(dim=-1, keepdim=True)
    # a row with a visible key sums to at least 1: exp(0) at its maximum
    return e / torch.where(total > 0, total, 1.0)


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("d_model must be divisible by num_heads")
        self.H = num_heads
        self.Dh = d_model // num_heads
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, d_model)
        self.value = nn.Linear(d_model, d_model)
        self.fc_out = nn.Linear(d_model, d_model)
        self.drop = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        B, L, D = x.shape
        q = self.query(x).view(B, L, self.H, self.Dh).transpose(1, 2)
        k = self.key(x).view(B, L, self.H, self.Dh).transpose(1, 2)
        v = self.value(x).view(B, L, self.H, self.Dh).transpose(1, 2)
        weights = masked_softmax(q @ k.transpose(2, 3) / math.sqrt(self.Dh), mask)
        context = self.drop(weights) @ v
        return self.fc_out(context.transpose(1, 2).reshape(B, L, D)), weights
