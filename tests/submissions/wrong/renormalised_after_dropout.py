# mha-grade: self-attention; expect: failed; in: dropout; mistake: dropout-renormalised; line: 34/36
import torch
from torch import nn


class Renormalised(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("d_model must be divisible by num_heads")
        self.num_heads = num_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.o_proj = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        batch, length, _ = x.shape
        q, k, v = (
            layer(x).view(batch, length, self.num_heads, -1).permute(0, 2, 1, 3)
            for layer in (self.q_proj, self.k_proj, self.v_proj)
        )
        p = torch.einsum("bhid,bhjd->bhij", q, k) / q.size(-1) ** 0.5
        if mask is not None:
            p = p.masked_fill(~mask, torch.finfo(p.dtype).min)
        p = p.softmax(-1)
        if mask is not None:
            p = p.masked_fill(~mask, 0.0)
        weights = p
        if self.training:
            p = self.dropout(p)
            # What is left has to be a distribution again.
            total = p.sum(-1, keepdim=True)
            total = total.masked_fill(total == 0, 1.0)
            p = p / total
        y = (p @ v).permute(0, 2, 1, 3).flatten(2)
        return self.o_proj(y), weights
