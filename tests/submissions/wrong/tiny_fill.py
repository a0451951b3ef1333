# mha-grade: self-attention; expect: failed; in: causal-mask, padding-mask; mistake: mask-filled-with-zero; line: 27
import torch
import torch.nn as nn
import torch.nn.functional as F


class MHA(nn.Module):
    def __init__(self, embed_size, heads, dropout=0.0):
        super(MHA, self).__init__()
        self.embed_size, self.heads = embed_size, heads
        self.head_dim = embed_size // heads
        if self.head_dim * heads != embed_size:
            raise ValueError("Embedding size needs to be divisible by heads")
        self.values = nn.Linear(embed_size, embed_size, bias=False)
        self.keys = nn.Linear(embed_size, embed_size, bias=False)
        self.queries = nn.Linear(embed_size, embed_size, bias=False)
        self.fc_out = nn.Linear(embed_size, embed_size)
        self.attn_dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        N, L, _ = x.shape
        values = self.values(x).reshape(N, L, self.heads, self.head_dim)
        keys = self.keys(x).reshape(N, L, self.heads, self.head_dim)
        queries = self.queries(x).reshape(N, L, self.heads, self.head_dim)
        energy = torch.einsum("nqhd,nkhd->nhqk", [queries, keys]) / (self.head_dim ** (1 / 2))
        if mask is not None:
            energy = energy.masked_fill(mask == 0, -1e-20)
        attention = torch.softmax(energy, dim=3)
        out = torch.einsum("nhql,nlhd->nqhd", [self.attn_dropout(attention), values])
        return self.fc_out(out.reshape(N, L, self.heads * self.head_dim)), attention
