# mha-grade: free; expect: passed
import torch
from torch import nn


class MultiheadAttention(nn.Module):
    """attn_mask is [L, S] or [B * H, L, S], added to the scores."""

    def __init__(self, embed_dim, num_heads):
        super().__init__()
        assert embed_dim % num_heads == 0
        self.h, self.d = num_heads, embed_dim // num_heads
        self.q, self.k, self.v, self.o = (nn.Linear(embed_dim, embed_dim) for _ in range(4))

    def forward(self, query, key, value, attn_mask=None):
        b, l, m = query.shape
        s = key.shape[1]
        fold = lambda t, n: t.view(b, n, self.h, self.d).transpose(1, 2).reshape(b * self.h, n, self.d)
        q, k, v = fold(self.q(query), l), fold(self.k(key), s), fold(self.v(value), s)
        w = torch.bmm(q, k.transpose(1, 2)) / self.d**0.5
        if attn_mask is not None:
            w = w + attn_mask
        hi = w.amax(-1, keepdim=True).clamp(min=torch.finfo(w.dtype).min)
        e = (w - hi).exp()
        w = e / e.sum(-1, keepdim=True).clamp(min=1.0)
        out = torch.bmm(w, v).view(b, self.h, l, self.d).transpose(1, 2).reshape(b, l, m)
        return self.o(out)
