# mha-grade: cross-attention
"""Multi-head cross-attention, written by hand. Allow 15 to 30 minutes.

Complete the class below. Queries come from one sequence, keys and values from another; the
module returns the attended output and the attention weights:

    forward(query, key, value, mask=None) -> (output, weights)

    query    [B, Lq, D]
    key      [B, Lk, D]
    value    [B, Lk, D]; need not be the same tensor as key
    mask     bool, broadcastable to [B, H, Lq, Lk]; True = this query may see this key;
             None = every query sees every key
    output   [B, Lq, D]
    weights  [B, H, Lq, Lk]; along the last axis, the keys, a row sums to 1

    B batch, Lq and Lk sequence lengths, D d_model, H num_heads, Dh = D / H the size of a head

What is expected:

- Learnable projections for queries, keys, values and output. Biases or none: your choice.
  Every parameter that the module registers is used.
- Scaled dot-product attention in each head; the heads are joined and projected at the end.
- A key that a query may not see has weight exactly 0, however large the scores are.
- A query that may see no key at all has weights exactly 0, so its output is the output
  projection of zero, that is, its bias. No NaN anywhere, and the gradients stay finite.
- All of this in float64, float32, bfloat16 and float16, with module and input in the same
  dtype; the output then has the dtype of the input.
- Any B, Lq and Lk, one head, heads of size 1, inputs that are not contiguous in memory. The
  arguments are left as they were, and nothing is remembered from one call to the next.
- A d_model that is not divisible by num_heads raises ValueError in the constructor.
- Dropout acts on the attention weights only, in training only, with inverted scaling: the
  weights that survive are divided by 1 - p. The weights returned may be those before or
  after dropout.

Write the attention itself: nn.MultiheadAttention and F.scaled_dot_product_attention, and
whatever calls them, may not be used. Helper functions and classes are welcome.
"""

from __future__ import annotations

import math

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int, dropout: float = 0.0):
        super().__init__()
        raise NotImplementedError

    def forward(
        self,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        mask: torch.Tensor | None = None,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        raise NotImplementedError
