# mha-grade: self-attention; expect: failed; in: state; mistake: weights-by-name-misread; line: 30
import math

import torch
from torch import nn


class Softmax(torch.autograd.Function):
    """Softmax over the last axis; what is hidden gets nothing."""

    @staticmethod
    def forward(scores, mask):
        top = scores.masked_fill(~mask, torch.finfo(scores.dtype).min).amax(-1, keepdim=True)
        shares = (scores - top).clamp(max=0).exp().masked_fill(~mask, 0)
        total = shares.sum(-1, keepdim=True)
        return shares / total.masked_fill(total == 0, 1)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, gradient):
        (weights,) = ctx.saved_tensors
        mixed = (gradient * weights).sum(-1, keepdim=True)
        return weights * (gradient - mixed), None

    @staticmethod
    def vmap(info, in_dims, scores, mask):
        first = scores.movedim(in_dims[0], 0)[:1]
        return Softmax.apply(first, mask).expand_as(scores), 0


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("d_model must be divisible by num_heads")
        self.num_heads = num_heads
        self.head_dim = d_model // num_heads
        self.qkv = nn.Linear(d_model, 3 * d_model)
        self.proj = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        B, L, D = x.shape
        qkv = self.qkv(x).view(B, L, 3, self.num_heads, self.head_dim)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        visible = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask
        weights = Softmax.apply(scores, visible.expand(scores.shape))
        y = (self.dropout(weights) @ v).transpose(1, 2).reshape(B, L, D)
        return self.proj(y), weights
