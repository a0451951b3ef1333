# mha-grade: causal-self-attention; expect: failed; in: combined-masks; mistake: masks-joined-by-or; line: 29
import torch
from torch import nn


class CausalAttention(nn.Module):
    """Masks say what is hidden, as in torch's own modules."""

    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("d_model must be divisible by num_heads")
        self.num_heads = num_heads
        self.kv = nn.Linear(d_model, 2 * d_model)
        self.q = nn.Linear(d_model, d_model)
        self.proj = nn.Linear(d_model, d_model)
        self.drop = nn.Dropout(dropout)

    def forward(self, x, padding_mask=None):
        B, L, D = x.shape
        k, v = self.kv(x).reshape(B, L, 2, self.num_heads, D // self.num_heads).unbind(2)
        q = self.q(x).reshape(B, L, self.num_heads, D // self.num_heads)
        scores = torch.einsum("blhd,bmhd->bhlm", q, k) * k.shape[-1] ** -0.5
        future = torch.full((L, L), True, dtype=torch.bool, device=x.device).triu(diagonal=1)
        if padding_mask is None:
            hidden = future.view(1, 1, L, L)
        else:
            padded = (~padding_mask).view(B, 1, 1, L)
            hidden = future & padded
        scores = scores.masked_fill(hidden, torch.finfo(scores.dtype).min)
        weights = scores.softmax(dim=-1).masked_fill(hidden, 0.0)
        context = torch.einsum("bhlm,bmhd->blhd", self.drop(weights), v)
        return self.proj(context.reshape(B, L, D)), weights
