# mha-grade: free; expect: passed
import torch
import torch.nn as nn


class SelfAttention(nn.Module):
    """Padded positions neither attend nor are attended to: their output is zero."""

    def __init__(self, dim, num_heads):
        super().__init__()
        if dim % num_heads != 0:
            raise ValueError("dim must be divisible by num_heads")
        self.num_heads = num_heads
        self.scale = (dim // num_heads) ** -0.5
        self.qkv = nn.Linear(dim, dim * 3, bias=False)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x, valid=None):
        B, N, C = x.shape
        qkv = self.qkv(x).reshape(B, N, 3, self.num_heads, C // self.num_heads).permute(2, 0, 3, 1, 4)
        q, k, v = qkv.unbind(0)
        attn = (q @ k.transpose(-2, -1)) * self.scale
        if valid is not None:
            attn = attn.masked_fill(~valid[:, None, None, :], float("-inf"))
        attn = attn.softmax(dim=-1).nan_to_num(0.0)
        out = self.proj((attn @ v).transpose(1, 2).reshape(B, N, C))
        if valid is not None:
            out = out * valid.unsqueeze(-1)
        return out
