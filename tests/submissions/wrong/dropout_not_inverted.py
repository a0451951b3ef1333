# mha-grade: causal-self-attention; expect: failed; in: dropout; mistake: dropout-not-inverted; line: 34/35
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
        self.p = dropout
        self.wq = nn.Linear(d_model, d_model)
        self.wk = nn.Linear(d_model, d_model)
        self.wv = nn.Linear(d_model, d_model)
        self.wo = nn.Linear(d_model, d_model)

    def heads(self, t):
        return t.unflatten(-1, (self.num_heads, self.head_dim)).transpose(1, 2)

    def forward(self, x, padding_mask=None):
        L = x.shape[1]
        q, k, v = self.heads(self.wq(x)), self.heads(self.wk(x)), self.heads(self.wv(x))
        visible = torch.ones(L, L, dtype=torch.bool, device=x.device).tril()
        if padding_mask is not None:
            visible = visible & padding_mask[:, None, None, :]
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        scores = scores.masked_fill(~visible, torch.finfo(scores.dtype).min)
        weights = scores.softmax(dim=-1).masked_fill(~visible, 0.0)
        if self.training:
            keep = torch.rand(weights.shape, device=x.device) >= self.p
            weights = weights * keep
        return self.wo((weights @ v).transpose(1, 2).flatten(2)), weights
