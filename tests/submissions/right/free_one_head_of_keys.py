# mha-grade: free; expect: passed
import math
import torch
from torch import nn


class MultiQueryAttention(nn.Module):
    """One key head and one value head for all query heads (Shazeer 2019)."""

    def __init__(self, d_model: int, n_heads: int):
        super().__init__()
        assert d_model % n_heads == 0, "d_model must be divisible by n_heads"
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.to_q = nn.Linear(d_model, d_model, bias=False)
        self.to_kv = nn.Linear(d_model, 2 * self.d_head, bias=False)
        self.to_out = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        b, n, _ = x.shape
        q = self.to_q(x).view(b, n, self.n_heads, self.d_head).transpose(1, 2)
        k, v = self.to_kv(x).chunk(2, dim=-1)
        scores = torch.einsum("bhid,bjd->bhij", q, k) / math.sqrt(self.d_head)
        if mask is not None:
            scores = scores.masked_fill(mask[:, None, None, :] == 0, float("-inf"))
        attn = scores.softmax(dim=-1)
        attn = attn.masked_fill(torch.isnan(attn), 0.0)
        out = torch.einsum("bhij,bjd->bhid", attn, v)
        return self.to_out(out.transpose(1, 2).reshape(b, n, -1))
