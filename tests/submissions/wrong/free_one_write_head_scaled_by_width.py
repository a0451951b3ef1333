# mha-grade: free; expect: failed; in: scaling; mistake: scale-by-sqrt-d-model
import torch
from torch import nn


class MultiQuery(nn.Module):
    """Fast decoding: many heads ask, one head answers."""

    def __init__(self, d, h):
        super().__init__()
        if d % h:
            raise ValueError("h must divide d")
        k = d // h
        self.P_q = nn.Parameter(torch.randn(h, d, k) * d**-0.5)
        self.P_k = nn.Parameter(torch.randn(d, k) * d**-0.5)
        self.P_v = nn.Parameter(torch.randn(d, k) * d**-0.5)
        self.P_o = nn.Parameter(torch.randn(h, d, k) * d**-0.5)

    def forward(self, X, M):
        Q = torch.einsum("bnd,hdk->bhnk", X, self.P_q)
        K, V = torch.einsum("bmd,dk->bmk", M, self.P_k), torch.einsum("bmd,dv->bmv", M, self.P_v)
        logits = torch.einsum("bhnk,bmk->bhnm", Q, K) / X.shape[-1] ** 0.5
        O = torch.einsum("bhnm,bmv->bhnv", torch.softmax(logits, dim=-1), V)
        return torch.einsum("bhnv,hdv->bnd", O, self.P_o)
