# mha-grade: self-attention; expect: passed
"""Every dot product is a linear map whose weight is the other side."""
import torch
import torch.nn.functional as F
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        size, rest = divmod(d_model, num_heads)
        if rest:
            raise ValueError(f"{d_model} features cannot be shared by {num_heads} heads")
        self.size, self.rate = size, dropout
        for name in ("asks", "offers", "gives", "joins"):
            self.add_module(name, nn.Linear(d_model, d_model))

    def _one(self, q, k, v, seen):
        grade = F.linear(q * self.size**-0.5, k)
        if seen is not None:
            grade = grade + torch.zeros_like(grade).masked_fill(~seen, -torch.inf)
        best = grade.detach().amax(-1, keepdim=True) if grade.shape[-1] else grade
        raised = torch.exp(grade - torch.nan_to_num(best, neginf=0.0))
        total = raised.sum(-1, keepdim=True)
        share = raised / torch.where(total > 0, total, torch.ones_like(total))
        return F.linear(F.dropout(share, self.rate, self.training), v.mT), share

    def forward(self, x, mask=None):
        batch, length, width = x.shape
        heads = width // self.size
        if mask is not None:
            mask = mask.expand(batch, heads, length, length)
        cut = [m(x).tensor_split(heads, -1) for m in (self.asks, self.offers, self.gives)]
        rows, shares = [], []
        for b in range(batch):
            pairs = [
                self._one(*(part[h][b] for part in cut), None if mask is None else mask[b, h])
                for h in range(heads)
            ]
            rows.append(torch.cat([out for out, _ in pairs], -1))
            shares.append(torch.stack([share for _, share in pairs]))
        if not batch:
            return self.joins(x), x.new_zeros(0, heads, length, length)
        return self.joins(torch.stack(rows)), torch.stack(shares)
