# mha-grade: free; expect: failed; in: padding-mask; mistake: mask-filled-with-zero; line: 30
import math

import torch
import torch.nn as nn

d_model = 32
n_heads = 4
d_k = d_v = 8


def heads(t, size):
    return t.unflatten(2, (n_heads, size)).transpose(1, 2)


class MultiHeadAttention(nn.Module):
    def __init__(self):
        super(MultiHeadAttention, self).__init__()
        assert d_k * n_heads == d_model
        self.W_Q = nn.Linear(d_model, n_heads * d_k)
        self.W_K = nn.Linear(d_model, n_heads * d_k)
        self.W_V = nn.Linear(d_model, n_heads * d_v)
        self.linear = nn.Linear(n_heads * d_v, d_model)
        self.layer_norm = nn.LayerNorm(d_model)

    def forward(self, Q, K, V, attn_mask):
        """attn_mask: (batch, len_q, len_k), True is hidden"""
        q, k, v = heads(self.W_Q(Q), d_k), heads(self.W_K(K), d_k), heads(self.W_V(V), d_v)
        scores = q @ k.mT / math.sqrt(d_k)
        scores.masked_fill_(attn_mask[:, None], -1e-9)
        attn = scores.softmax(-1)
        context = (attn @ v).transpose(1, 2).flatten(2)
        return self.layer_norm(Q + self.linear(context)), attn
