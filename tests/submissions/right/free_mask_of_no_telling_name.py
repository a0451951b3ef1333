# mha-grade: free; expect: passed
import torch
from torch import nn


class Attn(nn.Module):
    """`vis` may be given: [L, L] or [B, 1, L, L], nonzero where j may be looked at from i."""

    def __init__(self, w, n_heads):
        super().__init__()
        assert w % n_heads == 0
        self.n = n_heads
        self.i = nn.Linear(w, 3 * w)
        self.o = nn.Linear(w, w)

    def forward(self, x, vis=None):
        q, k, v = self.i(x).unflatten(-1, (3, self.n, -1)).permute(2, 0, 3, 1, 4)
        s = q @ k.mT * q.shape[-1] ** -0.5
        if vis is not None:
            dark = vis == 0
            p = s.masked_fill(dark, -torch.inf).softmax(-1).masked_fill(dark, 0.0)
        else:
            p = s.softmax(-1)
        return self.o((p @ v).transpose(1, 2).flatten(2))
