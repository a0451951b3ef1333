# mha-grade: free; expect: failed
import torch
import torch.nn as nn
from torch import Tensor


def canonical_mask(m: Tensor, dtype: torch.dtype) -> Tensor:
    """bool (True = blocked) -> additive float; floats are taken as they are."""
    if m.dtype == torch.bool:
        return torch.zeros_like(m, dtype=dtype).masked_fill_(m, float("-inf"))
    return m.to(torch.bool).to(dtype)


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model: int, nhead: int, dropout: float = 0.1):
        super().__init__()
        if d_model % nhead:
            raise ValueError("d_model % nhead != 0")
        self.nhead = nhead
        self.linears = nn.ModuleList(nn.Linear(d_model, d_model) for _ in range(4))
        self.dropout = nn.Dropout(p=dropout)

    def forward(self, q, k, v, attn_mask=None):
        B = q.size(0)
        q, k, v = (l(x).view(B, -1, self.nhead, x.size(-1) // self.nhead).transpose(1, 2) for l, x in zip(self.linears, (q, k, v)))
        logits = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
        if attn_mask is not None:
            logits = logits + canonical_mask(attn_mask, logits.dtype)
        empty = logits.isneginf().all(dim=-1, keepdim=True)
        p = logits.masked_fill(empty, 0).softmax(-1).masked_fill(empty, 0)
        o = self.dropout(p) @ v
        return self.linears[-1](o.transpose(1, 2).reshape(B, -1, self.nhead * o.size(-1))), p
