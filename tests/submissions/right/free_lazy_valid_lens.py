# mha-grade: free; expect: passed
import math

import torch
from torch import nn


def masked_softmax(X, valid_lens):
    """Softmax over the last axis; keys at or after the valid length count for nothing."""
    if valid_lens is None:
        return nn.functional.softmax(X, dim=-1)
    if valid_lens.dim() == 1:
        valid_lens = valid_lens[:, None].expand(-1, X.shape[1])
    steps = torch.arange(X.shape[-1], device=X.device)
    keep = steps[None, None, :] < valid_lens[:, :, None]
    X = X.masked_fill(~keep, torch.finfo(X.dtype).min)
    E = torch.exp(X - X.amax(dim=-1, keepdim=True).detach()) * keep
    # all lengths are at least one, or else the row is nought
    return E / E.sum(dim=-1, keepdim=True).masked_fill(~keep.any(-1, keepdim=True), 1)


class DotProductAttention(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        d = queries.shape[-1]
        scores = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(d)
        self.attention_weights = masked_softmax(scores, valid_lens)
        return torch.bmm(self.dropout(self.attention_weights), values)


class MultiHeadAttention(nn.Module):
    def __init__(self, num_hiddens, num_heads, dropout, bias=False, **kwargs):
        super().__init__()
        if num_hiddens % num_heads:
            raise ValueError('num_heads must divide num_hiddens')
        self.num_heads = num_heads
        self.attention = DotProductAttention(dropout)
        self.W_q = nn.LazyLinear(num_hiddens, bias=bias)
        self.W_k = nn.LazyLinear(num_hiddens, bias=bias)
        self.W_v = nn.LazyLinear(num_hiddens, bias=bias)
        self.W_o = nn.LazyLinear(num_hiddens, bias=bias)

    def forward(self, queries, keys, values, valid_lens):
        queries = self.fold(self.W_q(queries))
        keys = self.fold(self.W_k(keys))
        values = self.fold(self.W_v(values))
        if valid_lens is not None:
            valid_lens = valid_lens.repeat_interleave(self.num_heads, dim=0)
        return self.W_o(self.unfold(self.attention(queries, keys, values, valid_lens)))

    def fold(self, X):
        X = X.reshape(X.shape[0], X.shape[1], self.num_heads, -1).permute(0, 2, 1, 3)
        return X.reshape(-1, X.shape[2], X.shape[3])

    def unfold(self, X):
        X = X.reshape(-1, self.num_heads, X.shape[1], X.shape[2]).permute(0, 2, 1, 3)
        return X.reshape(X.shape[0], X.shape[1], -1)
