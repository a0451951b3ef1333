# mha-grade: self-attention; expect: passed
from __future__ import annotations

import torch
from torch import Tensor, nn


class FusedAttention(nn.Module):
    def __init__(self, dim: int, n_heads: int, p: float = 0.0) -> None:
        super().__init__()
        head_dim, rest = divmod(dim, n_heads)
        if rest:
            raise ValueError(f"cannot split {dim} features into {n_heads} equal heads")
        self.shape = (n_heads, head_dim, 3)
        self.scale = head_dim**-0.5
        self.to_qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.to_out = nn.Sequential(nn.Linear(dim, dim))
        self.drop = nn.Dropout(p)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        # q, k and v of one feature are neighbours: [H, Dh, 3]
        q, k, v = self.to_qkv(x).unflatten(-1, self.shape).movedim(1, 2).unbind(-1)
        logits = torch.matmul(q * self.scale, k.mT)
        if mask is None:
            attn = logits.softmax(-1)
        else:
            lowest = torch.finfo(logits.dtype).min
            attn = torch.where(mask, logits, lowest).softmax(-1)
            attn = torch.where(mask, attn, 0.0)
        y = torch.matmul(self.drop(attn), v)
        return self.to_out(y.movedim(1, 2).flatten(2)), attn
