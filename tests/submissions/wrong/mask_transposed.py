# mha-grade: self-attention; expect: failed; in: padding-mask, causal-mask; mistake: mask-transposed; line: 27
import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("d_model must be divisible by num_heads")
        self.num_heads = num_heads
        self.head_dim = d_model // num_heads
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, d_model)
        self.value = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        b, l, d = x.shape
        q = self.query(x).view(b, l, self.num_heads, -1)
        k = self.key(x).view(b, l, self.num_heads, -1)
        v = self.value(x).view(b, l, self.num_heads, -1)
        # scores are [B, H, key, query] here, and so is the mask
        scores = torch.einsum("bkhd,bqhd->bhkq", k, q) / self.head_dim**0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = scores.softmax(dim=-2)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)
        context = torch.einsum("bhkq,bkhd->bqhd", self.dropout(weights), v)
        return self.output(context.reshape(b, l, d)), weights.transpose(-2, -1)
