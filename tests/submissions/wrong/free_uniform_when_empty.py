# mha-grade: free; expect: failed; in: all-masked-rows; mistake: uniform-dead-rows; line: 27
import math

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        if num_hiddens % num_heads != 0:
            raise ValueError("num_hiddens % num_heads != 0")
        self.num_heads = num_heads
        self.dropout = nn.Dropout(dropout)
        self.W_q = nn.LazyLinear(num_hiddens, bias=bias)
        self.W_k = nn.LazyLinear(num_hiddens, bias=bias)
        self.W_v = nn.LazyLinear(num_hiddens, bias=bias)
        self.W_o = nn.LazyLinear(num_hiddens, bias=bias)

    def forward(self, queries, keys, values, valid_lens=None):
        q, k, v = [f(t).unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
                   for f, t in ((self.W_q, queries), (self.W_k, keys), (self.W_v, values))]
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        if valid_lens is not None:
            beyond = torch.arange(keys.shape[1], device=keys.device)[None, :] >= valid_lens[:, None]
            scores = scores.masked_fill(beyond[:, None, None, :], torch.finfo(scores.dtype).min)
        weights = nn.functional.softmax(scores, dim=-1)
        out = self.dropout(weights) @ v
        return self.W_o(out.transpose(1, 2).flatten(2))
