# mha-grade: free; expect: passed
"""JAX-minded: parameters in one pytree-like dict, pure function, vmap over heads."""
import torch
from torch import nn
from torch.func import vmap


def init(key_width, generator=None):
    return torch.randn(key_width, key_width, generator=generator) / key_width ** 0.5


def one_head(wq, wk, wv, x, keep):
    q, k, v = x @ wq, x @ wk, x @ wv
    logits = (q @ k.transpose(-1, -2)) / q.shape[-1] ** 0.5
    logits = torch.where(keep, logits, torch.full_like(logits, torch.finfo(logits.dtype).min))
    w = torch.softmax(logits, -1) * keep
    return w @ v


class PureMHA(nn.Module):
    def __init__(self, dim, nheads):
        super().__init__()
        assert dim % nheads == 0, "dim % nheads"
        self.n = nheads
        d = dim // nheads
        self.params = nn.ParameterDict({
            name: nn.Parameter(torch.randn(nheads, dim, d) / dim ** 0.5) for name in ("wq", "wk", "wv")
        })
        self.params["wo"] = nn.Parameter(init(dim))

    def forward(self, x, keep=None):
        B, L, D = x.shape
        if keep is None:
            keep = torch.ones(L, L, dtype=torch.bool, device=x.device)
        p = self.params
        keep = keep.expand(B, L, L) if keep.dim() < 4 else keep[:, 0].expand(B, L, L)
        heads = vmap(one_head, in_dims=(0, 0, 0, None, None), out_dims=2)(p["wq"], p["wk"], p["wv"], x, keep)
        return heads.reshape(B, L, D) @ p["wo"]
