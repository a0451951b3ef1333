# mha-grade: free; expect: failed; in: scaling; mistake: rotary-no-rotation; line: 29
import torch
from torch import nn


def rotate_half(x):
    a, b = x.chunk(2, dim=-1)
    return torch.cat((-b, a), dim=-1)


class NeoXAttention(nn.Module):
    def __init__(self, hidden_size, num_attention_heads, rotary_pct=0.25):
        super().__init__()
        assert hidden_size % num_attention_heads == 0
        self.num_heads = num_attention_heads
        self.head_size = hidden_size // num_attention_heads
        self.rotary_ndims = max(2, int(self.head_size * rotary_pct) // 2 * 2)
        self.qkv = nn.Linear(hidden_size, 3 * hidden_size)
        self.dense = nn.Linear(hidden_size, hidden_size)

    def rotate(self, x):
        n = self.rotary_ndims
        rot, keep = x[..., :n], x[..., n:]
        inv = 1.0 / (10000 ** (torch.arange(0, n, 2, device=x.device).float() / n))
        t = torch.arange(x.shape[-2], device=x.device).float()
        freqs = torch.outer(t, inv)
        emb = torch.cat((freqs, freqs), dim=-1)
        cos, sin = emb.cos().to(x.dtype), emb.sin().to(x.dtype)
        return torch.cat((rot * cos + rotate_half(rot) * cos, keep), dim=-1)

    def forward(self, x):
        b, l, m = x.shape
        q, k, v = self.qkv(x).view(b, l, 3, self.num_heads, self.head_size).permute(2, 0, 3, 1, 4)
        q, k = self.rotate(q), self.rotate(k)
        att = (q @ k.transpose(-1, -2)) * self.head_size**-0.5
        att = att.softmax(-1)
        return self.dense((att @ v).transpose(1, 2).reshape(b, l, m))
