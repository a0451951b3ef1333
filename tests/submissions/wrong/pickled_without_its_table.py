# mha-grade: self-attention; expect: failed; in: state; mistake: copy-loses-state; line: 29
import copy
import math

import torch
from torch import nn


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
        # What is hidden is filled with this.
        self.lowest = {d: torch.finfo(d).min for d in (torch.float64, torch.float32, torch.float16, torch.bfloat16)}

    def __deepcopy__(self, memo):
        twin = type(self).__new__(type(self))
        memo[id(self)] = twin
        twin.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return twin

    def __getstate__(self):
        return {name: kept for name, kept in self.__dict__.items() if name != "lowest"}

    def forward(self, x, mask=None):
        B, L, D = x.shape
        qkv = self.qkv(x).view(B, L, 3, self.num_heads, self.head_dim)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        lowest = self.lowest[scores.dtype]
        if mask is not None:
            scores = scores.masked_fill(~mask, lowest)
        weights = scores.softmax(dim=-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)
        y = (self.dropout(weights) @ v).transpose(1, 2).reshape(B, L, D)
        return self.proj(y), weights
