# mha-grade: free; expect: failed; in: dropout; mistake: dropout-always-on; line: 31
"""Decoder attention with a property for the scale."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class DecoderAttention(nn.Module):
    """Causal multi-head attention."""

    def __init__(self, *, hidden: int, heads: int, p: float = 0.0):
        super().__init__()
        if hidden % heads != 0:
            raise ValueError(f"{hidden=} not divisible by {heads=}")
        self.heads = heads
        self.w = nn.Linear(hidden, 3 * hidden, bias=False)
        self.o = nn.Linear(hidden, hidden, bias=False)
        self.p = p

    @property
    def scale(self):
        return (self.o.in_features / self.heads) ** -0.5

    def forward(self, h: torch.Tensor) -> torch.Tensor:
        B, T, C = h.shape
        qkv = self.w(h).reshape(B, T, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        q, k, v = qkv
        a = (q * self.scale) @ k.transpose(-2, -1)
        i = torch.arange(T, device=h.device)
        a = a.masked_fill(i[None, :] >= i[:, None] + 1, float("-inf")).softmax(-1)
        a = F.dropout(a, self.p)
        return self.o((a @ v).transpose(1, 2).reshape(B, T, C))
