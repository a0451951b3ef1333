# mha-grade: causal-self-attention; expect: failed; in: causal-mask; mistake: causal-one-ahead; line: 41/44
"""Key tiles with a running softmax; the weights are made at the end from the log of the sum."""
import math

import torch
from torch import nn


class TiledAttention(nn.Module):
    TILE = 3

    def __init__(self, d_model: int, num_heads: int, dropout: float = 0.0) -> None:
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"{d_model=} {num_heads=}")
        self.h = num_heads
        self.in_proj = nn.Linear(d_model, 3 * d_model)
        self.out_proj = nn.Linear(d_model, d_model)
        self.p = dropout

    def forward(self, x, padding_mask=None):
        n, length, width = x.shape
        q, k, v = self.in_proj(x).view(n, length, 3, self.h, -1).permute(2, 0, 3, 1, 4).unbind(0)
        q = q / math.sqrt(q.size(-1))
        kind = torch.promote_types(x.dtype, torch.float32)
        low = torch.full((n, self.h, length, 1), torch.finfo(kind).min, dtype=kind, device=x.device)
        total = torch.zeros((n, self.h, length, 1), dtype=kind, device=x.device)
        logits = []
        for start in range(0, length, self.TILE):
            tile, shown = self.tile(q, k, start, padding_mask, kind)
            new = torch.maximum(low, tile.amax(-1, keepdim=True))
            total = total * (low - new).exp() + ((tile - new).exp() * shown).sum(-1, keepdim=True)
            low = new
            logits.append((tile, shown))
        weights = torch.cat([(t - low).exp() * s for t, s in logits], -1)
        weights = (weights / total.clamp_min(torch.finfo(kind).tiny)).to(x.dtype)
        context = nn.functional.dropout(weights, self.p, self.training) @ v
        return self.out_proj(context.transpose(1, 2).reshape(n, length, width)), weights

    def tile(self, q, k, start, padding_mask, kind):
        rows = torch.arange(1, q.size(2) + 1, device=q.device)[:, None]
        part = k[:, :, start : start + self.TILE]
        columns = torch.arange(start, start + part.size(2), device=q.device)
        shown = (columns <= rows)[None, None]
        if padding_mask is not None:
            shown = shown & padding_mask[:, None, None, start : start + self.TILE]
        tile = (q @ part.transpose(-1, -2)).to(kind)
        return tile.masked_fill(~shown, torch.finfo(kind).min), shown.to(kind)
