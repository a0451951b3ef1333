# mha-grade: free; expect: passed
import torch
import torch.nn as nn


class SelfAttention(nn.Module):
    def __init__(self, embed_size, heads):
        super(SelfAttention, self).__init__()
        self.heads = heads
        self.head_dim = embed_size // heads
        assert self.head_dim * heads == embed_size, "heads must share embed_size out evenly"

        self.values = nn.Linear(embed_size, embed_size, bias=False)
        self.keys = nn.Linear(embed_size, embed_size, bias=False)
        self.queries = nn.Linear(embed_size, embed_size, bias=False)
        self.fc_out = nn.Linear(embed_size, embed_size)

    def cut(self, t):
        return t.reshape(t.shape[0], t.shape[1], self.heads, self.head_dim)

    def forward(self, values, keys, query, mask):
        v, k, q = self.cut(self.values(values)), self.cut(self.keys(keys)), self.cut(self.queries(query))

        # n: batch, i: query position, j: key position, h: head, e: inside the head
        energy = torch.einsum("nihe,njhe->nhij", q, k) / self.head_dim ** 0.5
        if mask is not None:
            energy = energy.masked_fill(mask == 0, torch.finfo(energy.dtype).min)
        attention = energy.softmax(dim=3)
        if mask is not None:
            attention = attention * (mask != 0)

        out = torch.einsum("nhij,njhe->nihe", attention, v)
        return self.fc_out(out.flatten(2))
