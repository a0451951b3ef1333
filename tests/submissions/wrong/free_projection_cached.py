# mha-grade: free; expect: failed; in: state; mistake: state-kept; line: 22
import math

import torch
from torch import nn


class CachedAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        assert embed_dim % num_heads == 0
        self.heads = num_heads
        self.to_q = nn.Linear(embed_dim, embed_dim, bias=False)
        self.to_k = nn.Linear(embed_dim, embed_dim, bias=False)
        self.to_v = nn.Linear(embed_dim, embed_dim, bias=False)
        self.to_out = nn.Linear(embed_dim, embed_dim)
        self.stacked = None

    def forward(self, x):
        B, L, D = x.shape
        if self.training or x.requires_grad or self.stacked is None or self.stacked.dtype != x.dtype:
            self.stacked = torch.cat([self.to_q.weight, self.to_k.weight, self.to_v.weight])
        q, k, v = (x @ self.stacked.T).chunk(3, dim=-1)
        q, k, v = (t.reshape(B, L, self.heads, -1).transpose(1, 2) for t in (q, k, v))
        weights = (q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])).softmax(dim=-1)
        return self.to_out((weights @ v).transpose(1, 2).reshape(B, L, D))
