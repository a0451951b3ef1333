# mha-grade: free; expect: passed
import torch, math
from torch import nn


class MultiQueryAttention(nn.Module):
    """One key/value head shared by all query heads (Shazeer 2019)."""

    def __init__(self, d_model: int, num_heads: int, dropout: float = 0.0) -> None:
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"d_model={d_model} not divisible by num_heads={num_heads}")
        self.num_heads = num_heads
        self.d_head = d_model // num_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.kv_proj = nn.Linear(d_model, 2 * self.d_head)
        self.out_proj = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, attn_mask=None, return_weights: bool = False):
        b, n, d = x.size()
        q = self.q_proj(x).reshape(b, n, self.num_heads, self.d_head)
        k, v = self.kv_proj(x).chunk(2, dim=-1)
        logits = torch.einsum("bnhd,bmd->bhnm", q, k) / math.sqrt(self.d_head)
        if attn_mask is not None:
            logits = logits.masked_fill(attn_mask.logical_not(), -math.inf)
        w = logits.softmax(-1)
        if attn_mask is not None:
            w = torch.where(attn_mask, w, torch.zeros_like(w))
        dropped = self.dropout(w)
        y = torch.einsum("bhnm,bmd->bnhd", dropped, v).reshape(b, n, d)
        y = self.out_proj(y)
        return (y, w) if return_weights else y
