# mha-grade: self-attention; expect: passed
import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    """Feature i belongs to head i % H, at the split and at the merge alike."""

    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("d_model must be divisible by num_heads")
        self.num_heads = num_heads
        self.depth = d_model // num_heads
        self.q = nn.Linear(d_model, d_model)
        self.k = nn.Linear(d_model, d_model)
        self.v = nn.Linear(d_model, d_model)
        self.dense = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        B, L, D = x.shape

        def split(t):
            return t.reshape(B, L, self.depth, self.num_heads).permute(0, 3, 1, 2)

        q, k, v = split(self.q(x)), split(self.k(x)), split(self.v(x))
        logits = torch.einsum("bhid,bhjd->bhij", q, k) * self.depth**-0.5
        if mask is not None:
            logits = logits.masked_fill(~mask, torch.finfo(logits.dtype).min)
        attn = logits.softmax(dim=-1)
        if mask is not None:
            attn = attn.masked_fill(~mask, 0.0)
        attn = self.dropout(attn)
        out = torch.einsum("bhij,bhjd->bidh", attn, v)
        return self.dense(out.reshape(B, L, D)), attn
