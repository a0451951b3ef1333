# mha-grade: free; expect: failed
import torch
from torch import nn


class KVCacheAttention(nn.Module):
    def __init__(self, d, n_q, n_kv):
        super().__init__()
        if d % n_q or n_q % n_kv:
            raise ValueError("bad sizes")
        self.n_q, self.n_kv, self.hs = n_q, n_kv, d // n_q
        self.proj = nn.Linear(d, (n_q + 2 * n_kv) * self.hs)
        self.out = nn.Linear(d, d)

    def forward(self, x, cache=None):
        b, n, _ = x.shape
        q, k, v = self.proj(x).split([self.n_q * self.hs, self.n_kv * self.hs, self.n_kv * self.hs], -1)
        q = q.view(b, n, self.n_q, self.hs).transpose(1, 2)
        k = k.view(b, n, self.n_kv, self.hs).transpose(1, 2)
        v = v.view(b, n, self.n_kv, self.hs).transpose(1, 2)
        if cache is not None:
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
        new = (k, v)
        r = self.n_q // self.n_kv
        kk, vv = k.repeat_interleave(r, 1), v.repeat_interleave(r, 1)
        s = q @ kk.mT / self.hs**0.5
        hide = torch.ones(n, kk.size(2), dtype=torch.bool, device=x.device).triu(1)
        s = s.masked_fill(hide, float("-inf"))
        return self.out((s.softmax(-1) @ vv).transpose(1, 2).reshape(b, n, -1)), new
