# mha-grade: free; expect: failed; in: all-masked-rows; mistake: dead-rows-not-zero
import torch
from torch import nn


class Projection(nn.Module):
    """Heads in front: [B, L, D] -> [B, H, L, D / H]."""

    def __init__(self, size, heads):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(heads, size, size // heads) / size**0.5)
        self.bias = nn.Parameter(torch.zeros(heads, 1, size // heads))

    def forward(self, x):
        return x.unsqueeze(1) @ self.weight + self.bias


class Attention(nn.Module):
    def __init__(self, size, heads):
        super().__init__()
        if size % heads != 0:
            raise ValueError("size % heads must be 0")
        self.ask, self.offer, self.give = (Projection(size, heads) for _ in range(3))
        self.back = nn.Linear(size, size)

    def forward(self, query, key, value, attention_mask=None):
        q, k, v = self.ask(query), self.offer(key), self.give(value)
        energy = torch.matmul(q, k.transpose(-2, -1)) / k.size(-1) ** 0.5
        if attention_mask is not None:
            energy = energy.masked_fill(attention_mask == 0, torch.finfo(energy.dtype).min)
            share = energy.softmax(-1) * attention_mask.bool().any(-2, keepdim=True)
        else:
            share = energy.softmax(-1)
        return self.back(torch.matmul(share, v).transpose(1, 2).reshape(query.shape)), share
