# mha-grade: free; expect: failed; in: padding-mask; mistake: mask-ignored
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
        n, q_len = query.shape[0], query.shape[1]
        values = self.fc_v(values).reshape(n, -1, self.heads, self.head_dim)
        keys = self.fc_k(keys).reshape(n, -1, self.heads, self.head_dim)
        queries = self.fc_q(query).reshape(n, q_len, self.heads, self.head_dim)
        energy = torch.einsum("nqhd,nkhd->nhqk", [queries, keys])
        if mask is not None:
            energy.masked_fill(mask == 0, torch.finfo(energy.dtype).min)
        attention = F.softmax(energy / self.head_dim ** 0.5, dim=3)
        out = torch.einsum("nhqk,nkhd->nqhd", [attention, values])
        return self.fc_out(out.reshape(n, q_len, -1))
