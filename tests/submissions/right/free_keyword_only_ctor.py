# mha-grade: free; expect: passed
import torch
from torch import Tensor, nn


class Attn(nn.Module):
    def __init__(self, *, width: int, num_heads: int, use_bias: bool = False, drop: float = 0.0):
        super().__init__()
        if width % num_heads:
            raise ValueError("width % num_heads")
        self.num_heads = num_heads
        self.in_q = nn.Linear(width, width, bias=use_bias)
        self.in_k = nn.Linear(width, width, bias=use_bias)
        self.in_v = nn.Linear(width, width, bias=use_bias)
        self.to_out = nn.Linear(width, width, bias=True)
        self.drop = nn.Dropout(drop)

    def forward(self, x: Tensor, *, context: Tensor | None = None, keep: Tensor | None = None) -> Tensor:
        """keep: [batch, source length], False for the padding of the source"""
        source = x if context is None else context
        q = self.in_q(x).unflatten(-1, (self.num_heads, -1))
        k = self.in_k(source).unflatten(-1, (self.num_heads, -1))
        v = self.in_v(source).unflatten(-1, (self.num_heads, -1))
        s = torch.einsum("nthd,nshd->nhts", q, k) / q.shape[-1] ** 0.5
        if keep is not None:
            keep = keep[:, None, None, :]
            # shift by the largest visible score, count only what is visible
            top = s.masked_fill(~keep, torch.finfo(s.dtype).min).amax(-1, keepdim=True).detach()
            e = torch.where(keep, torch.where(keep, s - top, 0.0).exp(), 0.0)
            a = e / e.sum(-1, keepdim=True).clamp_min(torch.finfo(s.dtype).tiny)
        else:
            a = s.softmax(-1)
        return self.to_out(torch.einsum("nhts,nshd->nthd", self.drop(a), v).flatten(2))
