# mha-grade: free; expect: failed; in: scaling, padding-mask; mistake: missing-scale, mask-after-softmax; line: 34, 34
import torch
import torch.nn.functional as F
from torch import nn


class DenseGeneral(nn.Module):
    def __init__(self, features, shape):
        super().__init__()
        self.kernel = nn.Parameter(torch.empty(features, *shape))
        self.bias = nn.Parameter(torch.zeros(*shape))
        nn.init.xavier_uniform_(self.kernel.view(features, -1))

    def forward(self, x):
        return torch.einsum("...m,mhd->...hd", x, self.kernel) + self.bias


class MultiHeadDotProductAttention(nn.Module):
    def __init__(self, features: int, num_heads: int):
        super().__init__()
        if features % num_heads != 0:
            raise ValueError("features must be a multiple of num_heads")
        shape = (num_heads, features // num_heads)
        self.query = DenseGeneral(features, shape)
        self.key = DenseGeneral(features, shape)
        self.value = DenseGeneral(features, shape)
        self.out = nn.Linear(features, features)

    def forward(self, inputs_q, inputs_kv, mask=None):
        query, key, value = self.query(inputs_q), self.key(inputs_kv), self.value(inputs_kv)
        weights = torch.einsum("bqhd,bkhd->bhqk", query, key)
        if mask is not None:
            hidden = ~mask
        weights = F.softmax(weights, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(hidden, 0.0)
        return self.out(torch.einsum("bhqk,bkhd->bqhd", weights, value).flatten(-2))
