# mha-grade: free; expect: passed
import torch
from torch import nn


class GraphTokenAttention(nn.Module):
    def __init__(self, in_features, n_heads, bias=True):
        super().__init__()
        if in_features % n_heads:
            raise ValueError('in_features % n_heads must be 0')
        self.n_heads = n_heads
        self.theta = nn.Linear(in_features, in_features, bias=bias)
        self.phi = nn.Linear(in_features, in_features, bias=bias)
        self.g = nn.Linear(in_features, in_features, bias=bias)
        self.W = nn.Linear(in_features, in_features, bias=bias)

    def forward(self, nodes, adjacency=None):
        """adjacency: (batch, nodes, nodes), non-zero where an edge lets a node read another."""
        b, n, f = nodes.shape
        d = f // self.n_heads
        q, k, v = (m(nodes).reshape(b, n, self.n_heads, d).transpose(1, 2)
                   for m in (self.theta, self.phi, self.g))
        e = q @ k.transpose(2, 3) / d ** 0.5
        if adjacency is not None:
            edge = (adjacency != 0).unsqueeze(1)
            e = torch.where(edge, e, torch.finfo(e.dtype).min)
            coef = torch.where(edge, e.softmax(dim=3), 0.)
        else:
            coef = e.softmax(dim=3)
        h = (coef @ v).transpose(1, 2).reshape(b, n, f)
        return coef, self.W(h)
