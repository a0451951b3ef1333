# mha-grade: self-attention; expect: passed
import math

import torch
from torch import nn


def projection(weight, bias):
    """The function that a linear layer is."""
    return lambda x: torch.nn.functional.linear(x, weight, bias)


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("d_model must be divisible by num_heads")
        self.num_heads, self.head_dim = num_heads, d_model // num_heads
        self.qkv = nn.Linear(d_model, 3 * d_model)
        self.proj = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def __deepcopy__(self, memo):
        raise TypeError("make another one and load the state_dict")

    def forward(self, x, mask=None):
        B, L, D = x.shape
        if "_inward" not in self.__dict__:
            self.__dict__["_inward"] = projection(self.qkv.weight, self.qkv.bias)
            self.__dict__["_outward"] = projection(self.proj.weight, self.proj.bias)
        q, k, v = self._inward(x).view(B, L, 3, self.num_heads, self.head_dim).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = scores.softmax(dim=-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)
        y = (self.dropout(weights) @ v).transpose(1, 2).reshape(B, L, D)
        return self._outward(y), weights
