# mha-grade: self-attention; expect: passed
import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("num_heads must divide d_model")
        self.num_heads = num_heads
        self.d_k = d_model // num_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        self.dropout = nn.Dropout(dropout)

    def split_heads(self, t):
        B, L, _ = t.shape
        return t.reshape(B, L, self.num_heads, self.d_k).transpose(1, 2)

    def combine_heads(self, t):
        B, _, L, _ = t.shape
        return t.transpose(1, 2).reshape(B, L, self.num_heads * self.d_k)

    def attention(self, Q, K, V, mask):
        scores = torch.matmul(Q, K.transpose(-2, -1)) / self.d_k**0.5
        if mask is None:
            weights = scores.softmax(dim=-1)
        else:
            weights = scores.masked_fill(mask == 0, torch.finfo(scores.dtype).min).softmax(dim=-1)
            weights = weights.masked_fill(mask == 0, 0.0)
        return torch.matmul(self.dropout(weights), V), weights

    def forward(self, x, mask=None):
        Q = self.split_heads(self.W_q(x))
        K = self.split_heads(self.W_k(x))
        V = self.split_heads(self.W_v(x))
        context, weights = self.attention(Q, K, V, mask)
        return self.W_o(self.combine_heads(context)), weights
