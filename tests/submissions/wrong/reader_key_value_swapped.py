# mha-grade: cross-attention; expect: failed; in: cross-attention; mistake: key-value-swapped; line: 27
import torch
from torch import nn


def heads_of(features, count):
    return features.view(features.size(0), features.size(1), count, -1)


class ReadFrom(nn.Module):
    """Everything in the order batch, length, head, feature; einsum does the turning."""

    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("num_heads must divide d_model")
        self.count = num_heads
        self.from_query = nn.Linear(d_model, d_model, bias=False)
        self.from_memory = nn.ModuleDict(
            {"k": nn.Linear(d_model, d_model, bias=False), "v": nn.Linear(d_model, d_model)}
        )
        self.merge = nn.Linear(d_model, d_model)
        self.noise = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        q = heads_of(self.from_query(query), self.count)
        k = heads_of(self.from_memory["k"](value), self.count)
        v = heads_of(self.from_memory["v"](key), self.count)
        match = torch.einsum("blhd,bshd->bhls", q / q.size(-1) ** 0.5, k)
        if mask is not None:
            match = match.where(mask, torch.finfo(match.dtype).min)
        weight = match.softmax(-1)
        if mask is not None:
            weight = weight.where(mask, 0.0)
        told = torch.einsum("bhls,bshd->blhd", self.noise(weight), v)
        return self.merge(told.flatten(2)), weight
