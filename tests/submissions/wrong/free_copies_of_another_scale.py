# mha-grade: free; expect: failed; in: state; mistake: copy-loses-state; line: 23
import math

import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        assert dim % heads == 0
        self.heads = heads
        self.scale = (dim // heads) ** -0.5
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)

    def __deepcopy__(self, memo):
        twin = Attention(self.proj.in_features, self.heads).to(self.proj.weight.dtype)
        twin.load_state_dict(self.state_dict())
        return twin.train(self.training)

    def __setstate__(self, state):
        super().__setstate__(state)
        # Older checkpoints have no scale.
        self.scale = self.proj.in_features**-0.5

    def forward(self, x):
        B, L, D = x.shape
        q, k, v = self.qkv(x).view(B, L, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        weights = (q @ k.transpose(-2, -1) * self.scale).softmax(dim=-1)
        return self.proj((weights @ v).transpose(1, 2).reshape(B, L, D))
