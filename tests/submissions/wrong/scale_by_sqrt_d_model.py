# mha-grade: self-attention; expect: failed; in: scaling; mistake: scale-by-sqrt-d-model; line: 28
import math

import torch
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, embed_size, heads, dropout=0.0):
        super().__init__()
        if embed_size % heads != 0:
            raise ValueError("Embedding size needs to be divisible by heads")
        self.embed_size = embed_size
        self.heads = heads
        self.head_dim = embed_size // heads
        self.queries = nn.Linear(embed_size, embed_size)
        self.keys = nn.Linear(embed_size, embed_size)
        self.values = nn.Linear(embed_size, embed_size)
        self.fc_out = nn.Linear(embed_size, embed_size)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        N, length, _ = x.shape
        queries = self.queries(x).reshape(N, length, self.heads, self.head_dim)
        keys = self.keys(x).reshape(N, length, self.heads, self.head_dim)
        values = self.values(x).reshape(N, length, self.heads, self.head_dim)

        energy = torch.einsum("nqhd,nkhd->nhqk", queries, keys) / math.sqrt(self.embed_size)
        if mask is not None:
            energy = energy.masked_fill(mask == 0, torch.finfo(energy.dtype).min)
        attention = torch.softmax(energy, dim=3)
        if mask is not None:
            attention = attention.masked_fill(mask == 0, 0.0)

        out = torch.einsum("nhql,nlhd->nqhd", self.dropout(attention), values)
        out = out.reshape(N, length, self.heads * self.head_dim)
        return self.fc_out(out), attention
