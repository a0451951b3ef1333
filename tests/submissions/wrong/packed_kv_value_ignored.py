# mha-grade: cross-attention; expect: failed; in: cross-attention; mistake: value-ignored; line: 25
import torch
from torch import nn


class PerceiverCrossAttention(nn.Module):
    def __init__(self, dim, heads, dropout=0.0):
        super().__init__()
        if dim % heads:
            raise ValueError("dim % heads != 0")
        self.heads = heads
        self.scale = (dim // heads) ** -0.5
        self.to_q = nn.Linear(dim, dim, bias=False)
        self.to_kv = nn.Linear(dim, dim * 2, bias=False)
        self.dropout = nn.Dropout(dropout)
        self.to_out = nn.Linear(dim, dim)

    def fold(self, t):
        b, n, d = t.shape
        return t.view(b, n, self.heads, -1).movedim(-2, 1).flatten(0, 1)

    def forward(self, query, key, value, mask=None):
        b, i = query.shape[:2]
        q = self.fold(self.to_q(query))
        k, v = self.to_kv(key).chunk(2, dim=-1)
        k, v = self.fold(k), self.fold(v)
        sim = torch.einsum("bid,bjd->bij", q, k) * self.scale
        if mask is not None:
            shown = mask.expand(b, self.heads, i, key.shape[1]).flatten(0, 1)
            sim.masked_fill_(~shown, -torch.finfo(sim.dtype).max)
        attn = sim.softmax(dim=-1)
        if mask is not None:
            attn = attn * shown
        out = torch.einsum("bij,bjd->bid", self.dropout(attn), v)
        out = out.unflatten(0, (b, self.heads)).movedim(1, -2).flatten(-2)
        return self.to_out(out), attn.unflatten(0, (b, self.heads))
