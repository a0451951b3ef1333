# mha-grade: free; expect: failed; in: padding-mask; mistake: mask-ignored; line: 25
import torch
import torch.nn.functional as F
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, embed_size, heads):
        super().__init__()
        self.heads = heads
        self.head_dim = embed_size // heads
        assert self.head_dim * heads == embed_size, "heads must divide embed_size"
        self.fc_v = nn.Linear(embed_size, embed_size)
        self.fc_k = nn.Linear(embed_size, embed_size)
        self.fc_q = nn.Linear(embed_size, embed_size)
        self.fc_out = nn.Linear(embed_size, embed_size)

    def forward(self, values, keys, query, mask):
        values, keys, queries = (
            fc(t).unflatten(2, (self.heads, self.head_dim))
            for fc, t in ((self.fc_v, values), (self.fc_k, keys), (self.fc_q, query))
        )
        energy = torch.einsum("nihe,njhe->nhij", queries, keys)
        if mask is not None:
            energy.masked_fill(mask == 0, torch.finfo(energy.dtype).min)
        attention = F.softmax(energy / self.head_dim ** 0.5, dim=3)
        out = torch.einsum("nhij,njhe->nihe", attention, values)
        return self.fc_out(out.flatten(2))
