# mha-grade: causal-self-attention; expect: passed
import torch
import torch.nn as nn


class CausalSelfAttention(nn.Module):
    # One for all layers: it does not move with any of them.
    tril = torch.ones(4096, 4096, dtype=torch.bool).tril()

    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("d_model must be divisible by num_heads")
        self.num_heads, self.head_dim = num_heads, d_model // num_heads
        self.qkv = nn.Linear(d_model, 3 * d_model)
        self.proj = nn.Linear(d_model, d_model)
        self.drop = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        b, l, m = x.shape
        q, k, v = self.qkv(x).view(b, l, 3, self.num_heads, self.head_dim).permute(2, 0, 3, 1, 4)
        visible = self.tril[:l, :l].view(1, 1, l, l)
        scores = q @ k.transpose(-2, -1) / self.head_dim**0.5
        if mask is not None:
            keep = mask.view(b, 1, 1, l).bool()
            scores = scores.masked_fill(~keep, float("-inf"))
            visible = visible & keep
        scores = scores.masked_fill(~visible, float("-inf"))
        weights = self.drop(scores.softmax(-1).masked_fill(~visible, 0.0))
        return self.proj((weights @ v).transpose(1, 2).reshape(b, l, m)), weights
