# mha-grade: cross-attention; expect: failed; in: shapes; mistake: divisibility-check-reversed; line: 10/11
import math
import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if num_heads % d_model:
            raise ValueError("d_model must be divisible by num_heads")
        self.h, self.d = num_heads, d_model // num_heads
        self.wq = nn.Linear(d_model, d_model)
        self.wk = nn.Linear(d_model, d_model)
        self.wv = nn.Linear(d_model, d_model)
        self.wo = nn.Linear(d_model, d_model)
        self.drop = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        B, L, D = query.shape
        q = self.wq(query).view(B, L, self.h, self.d).transpose(1, 2)
        k = self.wk(key).view(B, L, self.h, self.d).transpose(1, 2)
        v = self.wv(value).view(B, L, self.h, self.d).transpose(1, 2)
        s = q @ k.transpose(-2, -1) / math.sqrt(self.d)
        if mask is not None:
            s = s.masked_fill(~mask, torch.finfo(s.dtype).min)
        w = s.softmax(-1)
        if mask is not None:
            w = w.masked_fill(~mask, 0.0)
        o = self.drop(w) @ v
        return self.wo(o.transpose(1, 2).reshape(B, L, D)), w
