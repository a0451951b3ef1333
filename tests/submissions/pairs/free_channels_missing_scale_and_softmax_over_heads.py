# mha-grade: free; expect: failed; in: scaling; mistake: missing-scale, softmax-over-heads; line: 21, 21
import torch
from torch import nn


class SequenceAttention1d(nn.Module):
    """(batch, channels, length) in and out, with a way around."""

    def __init__(self, in_channels, num_heads=4):
        super().__init__()
        if in_channels % num_heads:
            raise ValueError("in_channels must be a multiple of num_heads")
        self.num_heads = num_heads
        self.qkv = nn.Conv1d(in_channels, in_channels * 3, kernel_size=1)
        self.proj_out = nn.Conv1d(in_channels, in_channels, kernel_size=1)

    def forward(self, x):
        b, c, length = x.shape
        q, k, v = self.qkv(x).reshape(b, 3, self.num_heads, c // self.num_heads, length).unbind(1)
        weight = torch.einsum("bhct,bhcs->bhts", q, k)
        h = torch.einsum("bhts,bhcs->bhct", weight.softmax(dim=1), v)
        return x + self.proj_out(h.reshape(b, c, length))
