# mha-grade: cross-attention; expect: failed; in: gradients; mistake: in-place-breaks-backward; line: 33
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
        self.fc_q = nn.Linear(d_model, d_model)
        self.fc_k = nn.Linear(d_model, d_model)
        self.fc_v = nn.Linear(d_model, d_model)
        self.fc_out = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def split(self, t):
        return t.unflatten(-1, (self.num_heads, self.head_dim)).transpose(1, 2)

    def forward(self, query, key, value, mask=None):
        q = self.split(self.fc_q(query))
        k = self.split(self.fc_k(key))
        v = self.split(self.fc_v(value))
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        # softmax by hand, in place to save memory
        weights = torch.exp(scores - scores.max(dim=-1, keepdim=True).values)
        weights /= weights.sum(dim=-1, keepdim=True)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)
        context = self.dropout(weights) @ v
        return self.fc_out(context.transpose(1, 2).flatten(2)), weights
