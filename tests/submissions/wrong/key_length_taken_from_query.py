# mha-grade: cross-attention; expect: failed; in: shapes, cross-attention, all-masked-rows; mistake: wrong-cross-length; line: 23
import math
import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("d_model must be divisible by num_heads")
        self.num_heads, self.head_dim = num_heads, d_model // num_heads
        self.wq = nn.Linear(d_model, d_model)
        self.wk = nn.Linear(d_model, d_model)
        self.wv = nn.Linear(d_model, d_model)
        self.wo = nn.Linear(d_model, d_model)
        self.drop = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        B, Lq, D = query.shape
        Lk = query.shape[1]
        q = self.wq(query).view(B, Lq, self.num_heads, self.head_dim).transpose(1, 2)
        k = self.wk(key).view(B, Lk, self.num_heads, self.head_dim).transpose(1, 2)
        v = self.wv(value).view(B, Lk, self.num_heads, self.head_dim).transpose(1, 2)
        scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.head_dim)
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        attn = torch.softmax(scores, dim=-1)
        if mask is not None:
            attn = attn * mask
            attn = attn / attn.sum(-1, keepdim=True).clamp(min=1e-9)
        ctx = torch.matmul(self.drop(attn), v)
        ctx = ctx.transpose(1, 2).contiguous().view(B, Lq, D)
        return self.wo(ctx), attn
