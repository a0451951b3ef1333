# mha-grade: free; expect: passed
from typing import Literal, NamedTuple, overload

import torch
from torch import Tensor, nn


class AttentionOutput(NamedTuple):
    context: Tensor
    weights: Tensor | None


class SelfAttn(nn.Module):
    def __init__(self, *, width: int, heads: int = 4, dropout_p: float = 0.0):
        super().__init__()
        head_dim, rest = divmod(width, heads)
        if rest:
            raise ValueError("width % heads != 0")
        self.heads, self.head_dim = heads, head_dim
        self.in_proj = nn.Linear(width, width * 3)
        self.out_proj = nn.Linear(width, width)
        self.dropout_p = dropout_p

    @overload
    def forward(self, x: Tensor, *, padding: Tensor | None = ..., need_weights: Literal[True]) -> AttentionOutput: ...
    @overload
    def forward(self, x: Tensor, *, padding: Tensor | None = ..., need_weights: Literal[False] = ...) -> AttentionOutput: ...

    def forward(self, x, *, padding=None, need_weights=False):
        """padding: bool [batch, length], True at padded positions."""
        B, L, _ = x.shape
        q, k, v = self.in_proj(x).reshape(B, L, 3, self.heads, self.head_dim).permute(2, 0, 3, 1, 4)
        logits = (q * self.head_dim**-0.5) @ k.mT
        if padding is not None:
            logits = logits.masked_fill(padding.view(B, 1, 1, L), -torch.inf)
        weights = torch.softmax(logits, -1).nan_to_num()
        dropped = nn.functional.dropout(weights, self.dropout_p, self.training)
        context = self.out_proj((dropped @ v).transpose(1, 2).reshape(B, L, -1))
        return AttentionOutput(context, weights if need_weights else None)
