# mha-grade: free; expect: passed
import torch
from torch import nn


class MultiHeadSelfAttention(nn.Module):
    """One layer whose rows run (d 3 h); the heads are merged as (h d)."""

    def __init__(self, dim, heads=8):
        super().__init__()
        assert dim % heads == 0
        self.heads = heads
        self.dim_head = dim // heads
        self.to_qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.to_out = nn.Linear(dim, dim, bias=False)

    def forward(self, x, mask=None):
        b, t, _ = x.shape
        qkv = self.to_qkv(x).reshape(b, t, self.dim_head, 3, self.heads)
        q, k, v = qkv.permute(3, 0, 4, 1, 2)
        scores = q @ k.transpose(-2, -1) * self.dim_head**-0.5
        if mask is not None:
            scores = scores.masked_fill(mask, -torch.inf)
            weights = scores.masked_fill(mask.all(-1, keepdim=True), 0.0).softmax(dim=-1)
            weights = weights.masked_fill(mask, 0.0)
        else:
            weights = scores.softmax(dim=-1)
        out = (weights @ v).transpose(1, 2).reshape(b, t, -1)
        return self.to_out(out)
