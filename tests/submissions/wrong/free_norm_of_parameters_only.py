# mha-grade: free; expect: failed; in: state; mistake: weights-by-name-misread; line: 26
import math

import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        assert dim % heads == 0
        self.heads = heads
        self.to_q = nn.Linear(dim, dim)
        self.to_k = nn.Linear(dim, dim)
        self.to_v = nn.Linear(dim, dim)
        self.to_out = nn.Linear(dim, dim)

    def forward(self, x):
        layers = (self.to_q, self.to_k, self.to_v)
        q, k, v = (self.project(x, layer).unflatten(-1, (self.heads, -1)).transpose(1, 2) for layer in layers)
        weights = (q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])).softmax(dim=-1)
        return self.to_out((weights @ v).transpose(1, 2).flatten(2))

    @staticmethod
    def project(x, layer):
        is_trained = type(layer.bias) is nn.Parameter
        return layer(x) if is_trained else x @ layer.weight.T
