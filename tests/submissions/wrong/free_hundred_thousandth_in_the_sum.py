# mha-grade: free; expect: failed; in: scaling; mistake: softmax-denominator-padded; line: 25
import torch
from torch import nn


class GuardedAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("d_model must be divisible by num_heads")
        self.h = num_heads
        self.qkv = nn.Linear(d_model, 3 * d_model)
        self.out = nn.Linear(d_model, d_model)
        self.drop = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        b, n, m = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.h, m // self.h).permute(2, 0, 3, 1, 4)
        scores = (q / q.shape[-1] ** 0.5) @ k.mT
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        exps = (scores - scores.amax(-1, keepdim=True)).exp()
        if mask is not None:
            exps = exps * mask
        weights = exps / (exps.sum(-1, keepdim=True) + 1e-5)
        context = self.drop(weights) @ v
        return self.out(context.transpose(1, 2).reshape(b, n, m)), weights
