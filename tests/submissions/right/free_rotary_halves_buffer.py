# mha-grade: free; expect: passed
import torch
import torch.nn as nn
import torch.nn.functional as F


class RotaryEmbedding(nn.Module):
    def __init__(self, dim, base=10000):
        super().__init__()
        self.register_buffer("inv_freq", 1.0 / (base ** (torch.arange(0, dim, 2).float() / dim)), persistent=False)

    def forward(self, n):
        t = torch.arange(n, device=self.inv_freq.device, dtype=torch.float32)
        freqs = torch.einsum("i,j->ij", t, self.inv_freq.float())
        return torch.cat((freqs, freqs), dim=-1)


def rotate_half(x):
    x1, x2 = x.chunk(2, dim=-1)
    return torch.cat((-x2, x1), dim=-1)


class CausalAttention(nn.Module):
    def __init__(self, hidden_size: int, num_heads: int, attention_dropout: float = 0.0):
        super().__init__()
        if hidden_size % num_heads:
            raise ValueError("bad sizes")
        self.num_heads, self.head_dim = num_heads, hidden_size // num_heads
        self.qkv_proj = nn.Linear(hidden_size, 3 * hidden_size, bias=False)
        self.o_proj = nn.Linear(hidden_size, hidden_size, bias=False)
        self.rotary = RotaryEmbedding(self.head_dim)
        self.attention_dropout = attention_dropout

    def forward(self, hidden_states):
        b, n, _ = hidden_states.shape
        q, k, v = self.qkv_proj(hidden_states).view(b, n, 3, self.num_heads, self.head_dim).permute(2, 0, 3, 1, 4)
        emb = self.rotary(n)
        cos, sin = emb.cos().to(q.dtype), emb.sin().to(q.dtype)
        q, k = q * cos + rotate_half(q) * sin, k * cos + rotate_half(k) * sin
        s = q @ k.transpose(-1, -2) * self.head_dim**-0.5
        s = s.masked_fill(torch.ones(n, n, dtype=torch.bool, device=q.device).triu(1), -torch.inf)
        w = F.dropout(s.softmax(-1), self.attention_dropout, self.training)
        return self.o_proj((w @ v).transpose(1, 2).reshape(b, n, -1))
