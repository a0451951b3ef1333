# mha-grade: causal-self-attention
"""Causal multi-head self-attention with padding, written by hand. Allow 15 to 30 minutes.

Complete the class below. For a batch of padded sequences it returns the attended output and
the attention weights:

    forward(x, padding_mask=None) -> (output, weights)

    x             [B, L, D]
    padding_mask  bool, [B, L]; True = a real token, False = padding;
                  None = every token is real
    output        [B, L, D]
    weights       [B, H, L, L]; along the last axis, the keys, a row sums to 1

    B batch, L sequence length, D d_model, H num_heads, Dh = D / H the size of a head

The module is causal by itself: token i sees tokens 0 to i, itself included. The two rules
combine: a key is visible if and only if it is not in the future and it is a real token.
Padding may stand anywhere in a sequence, and it hides keys, not queries: the output at a
padded position is computed like any other. When the first token of a sequence is padding,
the first query therefore sees nothing at all.

What is expected:

- Learnable projections for queries, keys, values and output. Biases or none: your choice.
  Every parameter that the module registers is used.
- Scaled dot-product attention in each head; the heads are joined and projected at the end.
- A key that a query may not see has weight exactly 0, however large the scores are.
- A query that may see no key at all has weights exactly 0, so its output is the output
  projection of zero, that is, its bias. No NaN anywhere, and the gradients stay finite.
- All of this in float64, float32, bfloat16 and float16, with module and input in the same
  dtype; the output then has the dtype of the input.
- Any B and L, one head, heads of size 1, inputs that are not contiguous in memory. The
  arguments are left as they were, and nothing that one call leaves behind changes the next.
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
        self, x: torch.Tensor, padding_mask: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        raise NotImplementedError
