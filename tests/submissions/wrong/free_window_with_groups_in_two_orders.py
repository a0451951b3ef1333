# mha-grade: free; expect: failed; in: shapes; mistake: key-heads-in-two-orders; line: 34
import torch
from torch import nn


class SlidingWindowAttention(nn.Module):
    """Grouped-query attention in which a token sees itself and window - 1 tokens before it."""

    def __init__(self, dim: int, n_heads: int, n_kv_heads: int, window: int = 4096):
        super().__init__()
        if dim % n_heads:
            raise ValueError("dim must be a multiple of n_heads")
        if n_heads % n_kv_heads:
            raise ValueError("n_heads must be a multiple of n_kv_heads")
        self.n_heads, self.n_kv_heads = n_heads, n_kv_heads
        self.repeats = n_heads // n_kv_heads
        self.head_dim = dim // n_heads
        self.window = window
        self.wq = nn.Linear(dim, n_heads * self.head_dim, bias=False)
        self.wk = nn.Linear(dim, n_kv_heads * self.head_dim, bias=False)
        self.wv = nn.Linear(dim, n_kv_heads * self.head_dim, bias=False)
        self.wo = nn.Linear(n_heads * self.head_dim, dim, bias=False)

    def _mask(self, n, device):
        i = torch.arange(n, device=device)
        distance = i[:, None] - i[None, :]
        return (distance >= 0) & (distance < self.window)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        b, n, _ = x.shape
        q = self.wq(x).view(b, n, self.n_heads, self.head_dim)
        k = self.wk(x).view(b, n, self.n_kv_heads, self.head_dim)
        v = self.wv(x).view(b, n, self.n_kv_heads, self.head_dim)
        k = k.repeat(1, 1, self.repeats, 1)
        v = torch.repeat_interleave(v, self.repeats, dim=2)
        scores = torch.einsum("bqhd,bkhd->bhqk", q, k) * self.head_dim**-0.5
        scores = scores.masked_fill(~self._mask(n, x.device), float("-inf"))
        probs = scores.float().softmax(-1).to(v.dtype)
        out = torch.einsum("bhqk,bkhd->bqhd", probs, v)
        return self.wo(out.reshape(b, n, -1))
