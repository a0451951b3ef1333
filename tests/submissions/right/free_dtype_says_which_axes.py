# mha-grade: free; expect: passed
import math
import torch
import torch.nn.functional as F
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("no")
        self.h = num_heads
        self.q, self.k, self.v, self.o = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, query, key, value, mask=None):
        B, T, D = query.shape
        S = key.shape[1]
        q, k, v = (t.view(B, -1, self.h, D // self.h).transpose(1, 2) for t in (self.q(query), self.k(key), self.v(value)))
        scores = q @ k.transpose(-2, -1) / math.sqrt(D // self.h)
        if mask is not None:
            if mask.dtype == torch.bool:
                assert mask.shape == (T, S)
                scores = scores.masked_fill(~mask, float("-inf"))
            else:
                scores = scores + mask.view(B, 1, 1, S)
        dead = scores.isneginf().all(-1, keepdim=True)
        weights = scores.masked_fill(dead, 0.0).softmax(-1).masked_fill(dead, 0.0)
        return self.o((weights @ v).transpose(1, 2).reshape(B, T, D)), weights
