# mha-grade: cross-attention; expect: failed; in: scaling; mistake: missing-scale; line: 26
import torch
import torch.nn as nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"{num_heads} heads do not divide a width of {d_model}")
        self.num_heads = num_heads
        self.query = nn.Parameter(torch.randn(d_model, d_model) / d_model**0.5)
        self.key = nn.Parameter(torch.randn(d_model, d_model) / d_model**0.5)
        self.value = nn.Parameter(torch.randn(d_model, d_model) / d_model**0.5)
        self.output = nn.Parameter(torch.randn(d_model, d_model) / d_model**0.5)
        self.dropout = nn.Dropout(dropout)

    def heads(self, x, weight):
        return (x @ weight).unflatten(-1, (self.num_heads, -1)).transpose(1, 2)

    def forward(self, query, key, value, mask=None):
        q, k = self.heads(query, self.query), self.heads(key, self.key)
        scores = q @ k.mT
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = scores.softmax(-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)
        context = self.dropout(weights) @ self.heads(value, self.value)
        return context.transpose(1, 2).flatten(2) @ self.output, weights
