# mha-grade: self-attention; expect: passed
import math

import torch
from torch import nn


def restore(arguments, state, dtype, training):
    """The module that was pickled."""
    module = MultiHeadAttention(*arguments).to(dtype)
    module.load_state_dict(state)
    return module.train(training)


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
        self.arguments = d_model, num_heads, dropout
        # Functions made on the spot cannot be pickled, so this class says how it can be.
        self.split = lambda t: t.view(*t.shape[:2], 3, num_heads, d_model // num_heads)

    def __reduce__(self):
        return restore, (self.arguments, self.state_dict(), self.proj.weight.dtype, self.training)

    def forward(self, x, mask=None):
        B, L, D = x.shape
        q, k, v = self.split(self.qkv(x)).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = scores.softmax(dim=-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)
        y = (self.dropout(weights) @ v).transpose(1, 2).reshape(B, L, D)
        return self.proj(y), weights
