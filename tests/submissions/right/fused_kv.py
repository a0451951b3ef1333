# mha-grade: causal-self-attention; expect: passed
import math

import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, dim, num_heads, drop=0.0):
        super().__init__()
        if dim % num_heads != 0:
            raise ValueError("dim % num_heads must be 0")
        self.h = num_heads
        self.dk = dim // num_heads
        self.q = nn.Linear(dim, dim)
        self.kv = nn.Linear(dim, dim * 2)
        self.proj = nn.Linear(dim, dim)
        self.drop = nn.Dropout(drop)

    def forward(self, x, padding_mask=None):
        B, N, C = x.shape
        q = self.q(x).view(B, N, self.h, self.dk).permute(0, 2, 1, 3)
        k, v = self.kv(x).view(B, N, 2, self.h, self.dk).permute(2, 0, 3, 1, 4)

        keep = torch.tril(torch.ones((N, N), dtype=torch.bool, device=x.device))
        keep = keep.unsqueeze(0).unsqueeze(0)  # 1, 1, N, N
        if padding_mask is not None:
            keep = torch.logical_and(keep, padding_mask.unsqueeze(1).unsqueeze(2))

        attn = (q / math.sqrt(self.dk)) @ k.transpose(-1, -2)
        attn = attn.masked_fill(keep.logical_not(), torch.finfo(attn.dtype).min)
        attn = torch.softmax(attn, dim=-1) * keep
        attn = self.drop(attn)

        out = (attn @ v).permute(0, 2, 1, 3).reshape(B, N, C)
        return self.proj(out), attn
