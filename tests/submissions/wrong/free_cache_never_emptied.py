# mha-grade: free; expect: failed; in: state; mistake: state-kept; line: 30/29
from types import SimpleNamespace

import torch
from torch import nn

params = SimpleNamespace(dim=64, n_heads=4)


class Attention(nn.Module):
    """Keeps the keys and values so that generation need not compute them again."""

    def __init__(self, params):
        super().__init__()
        assert params.dim % params.n_heads == 0
        self.n_heads = params.n_heads
        self.head_dim = params.dim // params.n_heads
        self.wq = nn.Linear(params.dim, params.dim, bias=False)
        self.wk = nn.Linear(params.dim, params.dim, bias=False)
        self.wv = nn.Linear(params.dim, params.dim, bias=False)
        self.wo = nn.Linear(params.dim, params.dim, bias=False)
        self.cache_k = self.cache_v = None

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = (f(x).view(b, t, self.n_heads, self.head_dim).transpose(1, 2)
                   for f in (self.wq, self.wk, self.wv))
        if not self.training and self.cache_k is not None and len(self.cache_k) == b:
            k, v = torch.cat((self.cache_k, k), dim=2), torch.cat((self.cache_v, v), dim=2)
        self.cache_k, self.cache_v = k.detach(), v.detach()
        past = k.size(2) - t
        see = torch.ones(t, past + t, dtype=torch.bool, device=x.device).tril(past)
        scores = q @ k.transpose(2, 3) / self.head_dim**0.5
        probs = scores.masked_fill(~see, float("-inf")).softmax(-1)
        return self.wo((probs @ v).transpose(1, 2).flatten(2))
