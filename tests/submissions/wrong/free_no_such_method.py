# mha-grade: free; expect: failed; in: padding-mask; mistake: no-such-method; line: 25
import torch
from torch import nn
from einops import rearrange


class MultiHeadAttention(nn.Module):
    def __init__(self, emb_size, num_heads, dropout=0.0):
        super().__init__()
        if emb_size % num_heads:
            raise ValueError("emb_size / num_heads is not whole")
        self.num_heads = num_heads
        self.keys = nn.Linear(emb_size, emb_size)
        self.queries = nn.Linear(emb_size, emb_size)
        self.values = nn.Linear(emb_size, emb_size)
        self.att_drop = nn.Dropout(dropout)
        self.projection = nn.Linear(emb_size, emb_size)

    def forward(self, x, mask=None):
        queries, keys, values = (rearrange(f(x), "b n (h d) -> b h n d", h=self.num_heads)
                                 for f in (self.queries, self.keys, self.values))
        energy = torch.einsum("bhqd,bhkd->bhqk", queries, keys)
        if mask is not None:
            fill_value = torch.finfo(energy.dtype).min
            energy = energy.mask_fill(~mask, fill_value)
        att = torch.softmax(energy / keys.size(-1) ** 0.5, dim=-1)
        out = torch.einsum("bhal,bhlv->bhav", self.att_drop(att), values)
        return self.projection(rearrange(out, "b h n d -> b n (h d)"))
