# mha-grade: free; expect: failed; in: shapes; mistake: weights-returned-wrong
import torch
import torch.nn as nn


class Attention(nn.Module):
    def __init__(self, dim, num_heads=8):
        super().__init__()
        assert dim % num_heads == 0
        self.num_heads = num_heads
        self.scale = (dim // num_heads) ** -0.5
        self.qkv = nn.Linear(dim, dim * 3)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x, return_attention=False):
        B, N, C = x.shape
        q, k, v = self.qkv(x).reshape(B, N, 3, self.num_heads, C // self.num_heads).permute(2, 0, 3, 1, 4)
        attn = (q @ k.transpose(-2, -1)) * self.scale
        attn = attn.softmax(dim=-1)
        if return_attention:
            return self.proj((attn @ v).transpose(1, 2).reshape(B, N, C)), attn.transpose(0, 1).reshape(attn.shape)
        return self.proj((attn @ v).transpose(1, 2).reshape(B, N, C))
