# mha-grade: causal-self-attention; expect: failed; in: combined-masks; mistake: masks-joined-by-or; line: 32
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
        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def split(self, t):
        b, l, _ = t.shape
        return t.view(b, l, self.num_heads, self.head_dim).transpose(1, 2)

    def forward(self, x, padding_mask=None):
        b, l, d = x.shape
        q, k, v = self.split(self.W_q(x)), self.split(self.W_k(x)), self.split(self.W_v(x))

        mask = torch.tril(torch.ones(l, l, device=x.device)).bool().view(1, 1, l, l)
        if padding_mask is not None:
            # combine both masks
            mask = mask | padding_mask.view(b, 1, 1, l)

        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.head_dim)
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = scores.softmax(dim=-1).masked_fill(~mask, 0.0)
        out = torch.matmul(self.dropout(weights), v)
        return self.W_o(out.transpose(1, 2).reshape(b, l, d)), weights
