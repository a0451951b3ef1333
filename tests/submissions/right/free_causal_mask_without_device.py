# mha-grade: free; expect: passed
import math

import torch
from torch import nn


class CausalAttention(nn.Module):
    def __init__(self, emb, heads):
        super().__init__()
        if emb % heads:
            raise ValueError("emb must be a multiple of heads")
        self.heads = heads
        self.to_qkv = nn.Linear(emb, 3 * emb, bias=False)
        self.to_out = nn.Linear(emb, emb)

    def forward(self, x):
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in self.to_qkv(x).chunk(3, -1))
        future = torch.ones(x.shape[1], x.shape[1]).triu(1).bool()
        weights = (q @ k.mT / math.sqrt(k.shape[-1])).masked_fill(future, -math.inf).softmax(-1)
        return self.to_out((weights @ v).transpose(1, 2).flatten(2))
