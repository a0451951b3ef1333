# mha-grade: free; expect: failed; in: causal-mask; mistake: causal-reversed; line: 20
import torch
import torch.nn as nn


class MaskedMultiHeadAttention(nn.Module):
    def __init__(self, embed_size, heads):
        super().__init__()
        self.heads = heads
        self.head_dim = embed_size // heads
        if heads * self.head_dim != embed_size:
            raise ValueError("heads must divide embed_size")
        self.to_qkv = nn.Linear(embed_size, 3 * embed_size, bias=False)
        self.fc_out = nn.Linear(embed_size, embed_size)

    def forward(self, x):
        n, length, _ = x.shape
        v, k, q = self.to_qkv(x).view(n, length, 3, self.heads, self.head_dim).unbind(2)
        energy = torch.einsum("nqhd,nkhd->nhqk", q, k)
        mask = torch.tril(torch.ones(length, length, device=x.device), diagonal=-1)
        energy = energy.masked_fill(mask == 1, float("-inf"))      # no look at what is still to come
        attention = torch.softmax(energy / self.head_dim ** 0.5, dim=-1)
        out = torch.einsum("nhqk,nkhd->nqhd", attention, v)
        return self.fc_out(out.flatten(2))
