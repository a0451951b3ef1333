# mha-grade: free; expect: failed; in: scaling; mistake: running-softmax-not-rescaled; line: 30
import torch
from torch import nn


class StreamingAttention(nn.Module):
    """Keys come in blocks of four; a running maximum and a running sum do for the softmax."""

    BLOCK = 4

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        if width % heads:
            raise ValueError("width must be a multiple of heads")
        self.heads = heads
        self.into = nn.ModuleDict({name: nn.Linear(width, width) for name in ("q", "k", "v")})
        self.out = nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        parts = {n: f(x).unflatten(2, (self.heads, -1)).movedim(2, 1) for n, f in self.into.items()}
        q = parts["q"] * parts["q"].shape[-1] ** -0.5
        wide = q.float() if q.dtype.itemsize == 2 else q
        best = wide.new_full((*q.shape[:3], 1), -torch.inf)
        total, acc = torch.zeros_like(best), torch.zeros_like(wide)
        for k, v in zip(parts["k"].split(self.BLOCK, 2), parts["v"].split(self.BLOCK, 2)):
            s = (q @ k.mT).float() if q.dtype.itemsize == 2 else q @ k.mT
            top = torch.maximum(best, s.amax(-1, keepdim=True))
            fade, p = (best - top).exp(), (s - top).exp()
            total = total * fade + p.sum(-1, keepdim=True)
            acc = acc + p @ v.to(p.dtype)
            best = top
        return self.out((acc / total).to(x.dtype).movedim(1, 2).flatten(2))
