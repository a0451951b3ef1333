# mha-grade: self-attention; expect: failed; in: scaling; mistake: scale-after-softmax; line: 24
import torch
import torch.nn as nn


class MultiHeadAttention(nn.Module):
    def __init__(self, emb_size, num_heads, dropout=0.0):
        super().__init__()
        if emb_size % num_heads:
            raise ValueError("emb_size must be divisible by num_heads")
        self.num_heads = num_heads
        self.scaling = (emb_size // num_heads) ** 0.5
        self.qkv = nn.Linear(emb_size, emb_size * 3)
        self.att_drop = nn.Dropout(dropout)
        self.projection = nn.Linear(emb_size, emb_size)

    def forward(self, x, mask=None):
        b, n, e = x.shape
        qkv = self.qkv(x).view(b, n, 3, self.num_heads, -1).permute(2, 0, 3, 1, 4)
        queries, keys, values = qkv[0], qkv[1], qkv[2]
        energy = torch.einsum("bhqd, bhkd -> bhqk", queries, keys)
        if mask is not None:
            energy = energy.masked_fill(~mask, torch.finfo(energy.dtype).min)
        att = energy.softmax(dim=-1) / self.scaling
        if mask is not None:
            att = att.masked_fill(~mask, 0.0)
        att = self.att_drop(att)
        out = torch.einsum("bhal, bhlv -> bhav", att, values)
        out = out.transpose(1, 2).reshape(b, n, e)
        return self.projection(out), att
