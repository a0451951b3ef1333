# mha-grade: self-attention; expect: failed; in: scaling; mistake: missing-scale, dropout-always-on; line: 27, 30
import torch
import torch.nn.functional as F
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("d_model must be divisible by num_heads")
        self.num_heads = num_heads
        self.p = dropout
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        b, l, d = x.shape
        q = self.W_q(x).view(b, l, self.num_heads, -1).transpose(1, 2)
        k = self.W_k(x).view(b, l, self.num_heads, -1).transpose(1, 2)
        v = self.W_v(x).view(b, l, self.num_heads, -1).transpose(1, 2)
        scores = torch.einsum("bhqd,bhkd->bhqk", q, k)
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = F.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)
        weights = F.dropout(weights, self.p)
        context = torch.einsum("bhqk,bhkd->bqhd", weights, v)
        return self.W_o(context.reshape(b, l, d)), weights
