# mha-grade: free; expect: failed; in: gradients; mistake: gradient-cut; line: 21
import torch
from torch import nn


class PatchAttention(nn.Module):
    """Keeps the last attention map for plotting."""

    def __init__(self, dim, num_heads=8, qkv_bias=False, attn_drop=0.):
        super().__init__()
        assert dim % num_heads == 0, 'dim should be divisible by num_heads'
        self.num_heads = num_heads
        self.scale = (dim // num_heads) ** -0.5
        self.qkv = nn.Linear(dim, dim * 3, bias=qkv_bias)
        self.attn_drop = nn.Dropout(attn_drop)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        B, N, C = x.shape
        q, k, v = self.qkv(x).reshape(B, N, 3, self.num_heads, C // self.num_heads).permute(2, 0, 3, 1, 4)
        attn = ((q * self.scale) @ k.transpose(-2, -1)).softmax(dim=-1).detach()
        x = (self.attn_drop(attn) @ v).transpose(1, 2).reshape(B, N, C)
        return {"x": self.proj(x), "attn": attn}
