# mha-grade: free; expect: failed; in: scaling; mistake: rotary-uneven; line: 24
import torch
from torch import nn


def rotate_half(x):
    x1, x2 = x.chunk(2, dim=-1)
    return torch.cat((-x2, x1), dim=-1)


class SelfAttention(nn.Module):
    def __init__(self, hidden_size, num_heads):
        super().__init__()
        if hidden_size % num_heads:
            raise ValueError("hidden_size % num_heads != 0")
        self.h = num_heads
        self.qkv = nn.Linear(hidden_size, 3 * hidden_size, bias=False)
        self.o = nn.Linear(hidden_size, hidden_size, bias=False)

    def forward(self, hidden_states, cos, sin, attention_mask=None):
        B, L, D = hidden_states.shape
        q, k, v = self.qkv(hidden_states).view(B, L, 3, self.h, D // self.h).permute(2, 0, 3, 1, 4)
        q = q * cos + rotate_half(q) * sin
        k = k * cos + rotate_half(q) * sin
        s = q @ k.transpose(-1, -2) * (D // self.h) ** -0.5
        if attention_mask is not None:
            s = s.masked_fill(~attention_mask, torch.finfo(s.dtype).min)
        a = s.softmax(-1)
        if attention_mask is not None:
            a = a.masked_fill(~attention_mask, 0.0)
        return self.o((a @ v).transpose(1, 2).reshape(B, L, D))
