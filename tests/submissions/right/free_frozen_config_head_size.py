# mha-grade: free; expect: passed
from __future__ import annotations

from dataclasses import dataclass, field

import einops
import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn


@dataclass(frozen=True, kw_only=True)
class AttnConfig:
    d_model: int
    n_heads: int
    init_range: float = 0.02
    d_head: int | None = None
    p_drop: float = 0.0

    @property
    def head_dim(self) -> int:
        return self.d_head or self.d_model // self.n_heads


class Attention(nn.Module):
    IGNORE: Float[Tensor, ""]

    def __init__(self, cfg: AttnConfig):
        super().__init__()
        self.cfg = cfg
        n, d, h = cfg.n_heads, cfg.d_model, cfg.head_dim
        self.W_Q = nn.Parameter(torch.empty((n, d, h)))
        self.W_K = nn.Parameter(torch.empty((n, d, h)))
        self.W_V = nn.Parameter(torch.empty((n, d, h)))
        self.W_O = nn.Parameter(torch.empty((n, h, d)))
        self.b_Q = nn.Parameter(torch.zeros((n, h)))
        self.b_K = nn.Parameter(torch.zeros((n, h)))
        self.b_V = nn.Parameter(torch.zeros((n, h)))
        self.b_O = nn.Parameter(torch.zeros(d))
        for w in (self.W_Q, self.W_K, self.W_V, self.W_O):
            nn.init.normal_(w, std=cfg.init_range)
        self.register_buffer("IGNORE", torch.tensor(float("-inf")), persistent=False)

    def forward(self, normalized_resid_pre: Float[Tensor, "batch posn d_model"]) -> Float[Tensor, "batch posn d_model"]:
        x = normalized_resid_pre
        q = einops.einsum(x, self.W_Q, "b p d, n d h -> b p n h") + self.b_Q
        k = einops.einsum(x, self.W_K, "b p d, n d h -> b p n h") + self.b_K
        v = einops.einsum(x, self.W_V, "b p d, n d h -> b p n h") + self.b_V
        scores = einops.einsum(q, k, "b pq n h, b pk n h -> b n pq pk") / self.cfg.head_dim**0.5
        pattern = self.apply_causal_mask(scores).softmax(-1)
        z = einops.einsum(pattern, v, "b n pq pk, b pk n h -> b pq n h")
        return einops.einsum(z, self.W_O, "b p n h, n h d -> b p d") + self.b_O

    def apply_causal_mask(self, scores: Float[Tensor, "b n q k"]) -> Float[Tensor, "b n q k"]:
        ones = torch.ones(scores.size(-2), scores.size(-1), device=scores.device, dtype=torch.bool)
        return scores.masked_fill(ones.triu(1), self.IGNORE)
