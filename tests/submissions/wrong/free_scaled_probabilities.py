# mha-grade: free; expect: failed; in: scaling; mistake: scale-after-softmax; line: 22
import torch
from torch import nn
from einops import rearrange
from einops.layers.torch import Rearrange


class MultiHeadAttention(nn.Module):
    def __init__(self, emb_size: int = 768, num_heads: int = 8, dropout: float = 0):
        super().__init__()
        if emb_size % num_heads:
            raise ValueError("emb_size must be a multiple of num_heads")
        self.qkv = nn.Linear(emb_size, emb_size * 3)
        self.cut = Rearrange("b n (h d qkv) -> qkv b h n d", h=num_heads, qkv=3)
        self.att_drop = nn.Dropout(dropout)
        self.projection = nn.Linear(emb_size, emb_size)
        self.scaling = (emb_size // num_heads) ** -0.5

    def forward(self, x):
        queries, keys, values = self.cut(self.qkv(x))
        energy = torch.einsum("bhqd,bhkd->bhqk", queries, keys)
        att = torch.softmax(energy, dim=-1) * self.scaling
        out = torch.einsum("bhal,bhlv->bhav", self.att_drop(att), values)
        return self.projection(rearrange(out, "b h n d -> b n (h d)"))
