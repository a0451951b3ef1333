# mha-grade: free; expect: failed; in: padding-mask; mistake: mask-in-order-of-heads; line: 28
import math

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, num_hiddens, num_heads, dropout=0.0, bias=False):
        super().__init__()
        assert num_hiddens % num_heads == 0
        self.num_heads = num_heads
        self.dropout = nn.Dropout(dropout)
        self.W_q = nn.Linear(num_hiddens, num_hiddens, bias=bias)
        self.W_k = nn.Linear(num_hiddens, num_hiddens, bias=bias)
        self.W_v = nn.Linear(num_hiddens, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)

    def transpose_qkv(self, X):
        X = X.reshape(*X.shape[:2], self.num_heads, -1).permute(0, 2, 1, 3)
        return X.flatten(0, 1)

    def forward(self, queries, keys, values, valid_lens=None):
        B = queries.shape[0]
        Q, K, V = map(self.transpose_qkv, (self.W_q(queries), self.W_k(keys), self.W_v(values)))
        S = torch.bmm(Q, K.transpose(1, 2)) / math.sqrt(Q.shape[-1])
        if valid_lens is not None:
            valid_lens = valid_lens.repeat(self.num_heads)
            out = torch.arange(S.shape[2], device=S.device)[None, None] >= valid_lens[:, None, None]
            A = S.masked_fill(out, torch.finfo(S.dtype).min).softmax(-1).masked_fill(out, 0)
        else:
            A = S.softmax(-1)
        Y = torch.bmm(self.dropout(A), V).unflatten(0, (B, -1)).permute(0, 2, 1, 3)
        return self.W_o(Y.flatten(2))
