# mha-grade: free; expect: passed
import torch
import torch.nn as nn


class Attention2d(nn.Module):
    """Attention over the positions of a flattened image, [B, C, N]."""

    def __init__(self, channels: int, num_heads: int = 4, qkv_bias: bool = True, out_bias: bool = True):
        super().__init__()
        if channels % num_heads:
            raise ValueError("channels % num_heads")
        self.num_heads = num_heads
        self.qkv = nn.Conv1d(channels, channels * 3, kernel_size=1, bias=qkv_bias)
        self.proj_out = nn.Conv1d(channels, channels, 1, bias=out_bias)

    def forward(self, x):
        b, c, n = x.shape
        q, k, v = self.qkv(x).chunk(3, dim=1)
        ch = c // self.num_heads
        scale = ch**-0.25
        weight = torch.einsum("bct,bcs->bts", (q * scale).reshape(b * self.num_heads, ch, n), (k * scale).reshape(b * self.num_heads, ch, n))
        weight = torch.softmax(weight, dim=-1)
        a = torch.einsum("bts,bcs->bct", weight, v.reshape(b * self.num_heads, ch, n))
        return x + self.proj_out(a.reshape(b, c, n))
