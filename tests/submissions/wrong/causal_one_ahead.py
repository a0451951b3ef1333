# mha-grade: causal-self-attention; expect: failed; in: causal-mask; mistake: causal-one-ahead; line: 25
import torch
from torch import nn


class CausalAttention(nn.Module):
    def __init__(self, dim, heads, dropout=0.0):
        super().__init__()
        if dim % heads:
            raise ValueError("dim must be divisible by heads")
        self.heads = heads
        self.scale = (dim // heads) ** -0.5
        self.to_qkv = nn.Linear(dim, dim * 3, bias=False)
        self.to_out = nn.Linear(dim, dim, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, padding_mask=None):
        b, n, d = x.shape
        q, k, v = (
            t.view(b, n, self.heads, -1).transpose(1, 2) for t in self.to_qkv(x).chunk(3, dim=-1)
        )
        dots = q @ k.transpose(-1, -2) * self.scale

        i = torch.arange(n, device=x.device)
        keep = i[None, :] <= i[:, None] + 1
        if padding_mask is not None:
            keep = keep & padding_mask[:, None, None, :]

        dots = dots.masked_fill(~keep, torch.finfo(dots.dtype).min)
        attn = dots.softmax(dim=-1).masked_fill(~keep, 0.0)
        out = self.dropout(attn) @ v
        return self.to_out(out.transpose(1, 2).reshape(b, n, d)), attn
