# mha-grade: causal-self-attention; expect: passed
import torch
import torch.nn as nn


class CausalSelfAttention(nn.Module):
    """Causal attention; the fused projection is laid out head by head: [H, 3, Dh]."""

    def __init__(self, embed_dim, heads, dropout=0.0):
        super().__init__()
        if embed_dim % heads:
            raise ValueError(f"{embed_dim=} is not a multiple of {heads=}")
        self.heads = heads
        self.c_attn = nn.Linear(embed_dim, 3 * embed_dim, bias=False)
        self.c_proj = nn.Linear(embed_dim, embed_dim, bias=False)
        self.attn_dropout = nn.Dropout(dropout)

    def forward(self, x, padding_mask=None):
        B, T, C = x.size()
        packed = self.c_attn(x).view(B, T, self.heads, -1).transpose(1, 2)  # (B, nh, T, 3*hs)
        q, k, v = packed.chunk(3, dim=-1)                                   # (B, nh, T, hs)

        hidden = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1)
        if padding_mask is not None:
            hidden = hidden | ~padding_mask[:, None, None, :]

        att = q @ k.transpose(-2, -1) * q.size(-1) ** -0.5
        att = att.masked_fill(hidden, torch.finfo(att.dtype).min).softmax(dim=-1)
        att = att.masked_fill(hidden, 0)  # queries with nothing to see

        y = self.attn_dropout(att) @ v
        y = y.transpose(1, 2).contiguous().view(B, T, C)
        return self.c_proj(y), att
