# mha-grade: free; expect: passed
from copy import deepcopy

import torch
from torch import nn


def copies(layer, count):
    return nn.ModuleList(deepcopy(layer) for _ in range(count))


def attend(query, key, value, mask, dropout):
    """Weights and what they pick; a query that may look at nothing gets nothing."""
    logits = query @ key.transpose(-2, -1) * query.size(-1) ** -0.5
    if mask is None:
        weights = logits.softmax(dim=-1)
    else:
        hidden = mask == 0
        weights = logits.masked_fill(hidden, torch.finfo(logits.dtype).min).softmax(dim=-1)
        weights = weights.masked_fill(hidden, 0)
    return weights, dropout(weights) @ value


class MultiHeadedAttention(nn.Module):
    def __init__(self, h, d_model, dropout=0.1):
        super().__init__()
        if d_model % h:
            raise ValueError(f"h={h} does not go into d_model={d_model}")
        self.h, self.d_k = h, d_model // h
        self.linears = copies(nn.Linear(d_model, d_model), 4)
        self.dropout = nn.Dropout(dropout)
        self.attn = None                # of the last call, to be looked at

    def forward(self, query, key, value, mask=None):
        """mask: (batch, 1 or len_q, len_k), zero where hidden"""
        heads = []
        for linear, x in zip(self.linears, (query, key, value)):
            heads.append(linear(x).unflatten(-1, (self.h, self.d_k)).transpose(1, 2))
        self.attn, mixed = attend(*heads, None if mask is None else mask[:, None], self.dropout)
        return self.linears[3](mixed.transpose(1, 2).flatten(2))
