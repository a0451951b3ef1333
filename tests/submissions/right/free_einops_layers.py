# mha-grade: free; expect: passed
import torch
from torch import nn
from einops import einsum
from einops.layers.torch import Rearrange


class MultiHeadAttention(nn.Module):
    def __init__(self, emb_size: int = 512, num_heads: int = 8, dropout: float = 0.0):
        super().__init__()
        if emb_size % num_heads != 0:
            raise ValueError("emb_size % num_heads != 0")
        to_heads = Rearrange("b n (h d) -> b h n d", h=num_heads)
        self.queries = nn.Sequential(nn.Linear(emb_size, emb_size), to_heads)
        self.keys = nn.Sequential(nn.Linear(emb_size, emb_size), to_heads)
        self.values = nn.Sequential(nn.Linear(emb_size, emb_size), to_heads)
        self.att_drop = nn.Dropout(dropout)
        self.projection = nn.Sequential(Rearrange("b h n d -> b n (h d)"), nn.Linear(emb_size, emb_size))

    def forward(self, x, mask=None):
        """mask (b, 1, n): True marks the tokens to use"""
        q, k, v = self.queries(x), self.keys(x), self.values(x)
        energy = einsum(q, k, "b h i d, b h j d -> b h i j") / q.shape[-1] ** 0.5
        if mask is not None:
            drop = ~mask.unsqueeze(1)
            energy = energy.masked_fill(drop, torch.finfo(energy.dtype).min)
            att = energy.softmax(dim=-1).masked_fill(drop, 0)
        else:
            att = energy.softmax(dim=-1)
        return self.projection(einsum(self.att_drop(att), v, "b h i j, b h j d -> b h i d"))
