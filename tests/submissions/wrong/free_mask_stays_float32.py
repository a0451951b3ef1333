# mha-grade: free; expect: failed; in: mixed-precision; mistake: tensor-left-behind; line: 16
import torch
from torch import nn


class ChannelsFirstDecoderAttention(nn.Module):
    """Works on (batch, channels, steps); causal."""

    def __init__(self, channels, n_heads, max_steps=256):
        super().__init__()
        if channels % n_heads:
            raise ValueError("channels must be divisible by n_heads")
        self.n_heads = n_heads
        self.conv_qkv = nn.Conv1d(channels, 3 * channels, 1)
        self.conv_out = nn.Conv1d(channels, channels, 1)
        self.mask = torch.full((max_steps, max_steps), float("-inf"), dtype=torch.float32).triu(1)

    def forward(self, x):
        b, c, t = x.shape
        q, k, v = self.conv_qkv(x).view(b, 3, self.n_heads, c // self.n_heads, t).unbind(dim=1)
        scores = torch.einsum("bhdi,bhdj->bhij", q, k) / (c // self.n_heads) ** 0.5
        weights = (scores + self.mask[:t, :t]).softmax(dim=-1)
        out = torch.matmul(v, weights.transpose(-1, -2))
        return self.conv_out(out.reshape(b, c, t))
