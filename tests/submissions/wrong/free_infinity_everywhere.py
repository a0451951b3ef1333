# mha-grade: free; expect: failed; in: all-masked-rows; mistake: nan-dead-rows; line: 23
import torch
import torch.nn as nn


class SelfAttention(nn.Module):
    def __init__(self, embed_size, heads):
        super().__init__()
        self.heads = heads
        self.head_dim = embed_size // heads
        assert self.head_dim * heads == embed_size, "embed_size / heads leaves a rest"
        self.to_values = nn.Linear(embed_size, embed_size, bias=False)
        self.to_keys = nn.Linear(embed_size, embed_size, bias=False)
        self.to_queries = nn.Linear(embed_size, embed_size, bias=False)
        self.unify = nn.Linear(embed_size, embed_size)

    def forward(self, values, keys, query, mask=None):
        v, k, q = (f(t).unflatten(-1, (self.heads, self.head_dim))
                   for f, t in ((self.to_values, values), (self.to_keys, keys), (self.to_queries, query)))
        energy = torch.einsum("nihe,njhe->nhij", q, k) / self.head_dim ** 0.5
        if mask is not None:                     # 0 = hidden
            energy[(mask == 0).expand_as(energy)] = float("-inf")
        attention = energy.softmax(dim=-1)
        return self.unify(torch.einsum("nhij,njhe->nihe", attention, v).flatten(2))
