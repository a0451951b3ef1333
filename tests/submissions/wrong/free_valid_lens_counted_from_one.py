# mha-grade: free; expect: failed
import math

import torch
from torch import nn


def masked_softmax(scores, valid_lens):
    """scores [n, q, k]; valid_lens [n] or None: keys at and after the length get no weight."""
    if valid_lens is None:
        return scores.softmax(-1)
    position = torch.arange(scores.shape[-1], device=scores.device)
    hidden = position[None, None, :] > valid_lens.to(scores.device)[:, None, None]
    return scores.masked_fill(hidden, float("-inf")).softmax(-1).masked_fill(hidden, 0.0)


class DotProductAttention(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        scores = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(queries.shape[-1])
        self.attention_weights = masked_softmax(scores, valid_lens)
        return torch.bmm(self.dropout(self.attention_weights), values)


class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False, **kwargs):
        super().__init__(**kwargs)
        if num_hiddens % num_heads:
            raise ValueError("num_hiddens must be a multiple of num_heads")
        self.num_heads = num_heads
        self.attention = DotProductAttention(dropout)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)

    def _fold(self, X):
        X = X.reshape(X.shape[0], X.shape[1], self.num_heads, -1).permute(0, 2, 1, 3)
        return X.reshape(-1, X.shape[2], X.shape[3])

    def _unfold(self, X):
        X = X.reshape(-1, self.num_heads, X.shape[1], X.shape[2]).permute(0, 2, 1, 3)
        return X.reshape(X.shape[0], X.shape[1], -1)

    def forward(self, queries, keys, values, valid_lens=None):
        queries, keys, values = (self._fold(W(X)) for W, X in ((self.W_q, queries), (self.W_k, keys), (self.W_v, values)))
        if valid_lens is not None:
            valid_lens = torch.repeat_interleave(valid_lens, repeats=self.num_heads, dim=0)
        return self.W_o(self._unfold(self.attention(queries, keys, values, valid_lens)))
