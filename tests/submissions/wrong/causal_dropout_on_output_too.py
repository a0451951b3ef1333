# mha-grade: causal-self-attention; expect: failed; in: dropout; mistake: dropout-misplaced; line: 49
from typing import NamedTuple, Optional

import torch
from torch import Tensor, nn


class Attended(NamedTuple):
    output: Tensor
    weights: Tensor


def visible(x: Tensor, padding_mask: Optional[Tensor]) -> Tensor:
    length = x.shape[1]
    mask = torch.ones((1, 1, length, length), dtype=torch.bool, device=x.device).tril_()
    if padding_mask is None:
        return mask
    return mask.logical_and(padding_mask.view(-1, 1, 1, length) if padding_mask.is_contiguous() else padding_mask[:, None, None])


class SafeSoftmax(nn.Module):
    def forward(self, scores, mask):
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        return scores.softmax(-1).masked_fill(~mask, 0)


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int, dropout: float = 0.0):
        if d_model % num_heads:
            raise ValueError("bad sizes")
        super().__init__()
        make = lambda: nn.utils.skip_init(nn.Linear, d_model, d_model)
        self.key, self.value, self.query, self.out = make(), make(), make(), make()
        for p in self.parameters():
            nn.init.normal_(p, std=0.02)
        self.num_heads = num_heads
        self.softmax = SafeSoftmax()
        self.dropout = nn.Dropout(dropout)

    def heads(self, t):
        return torch.stack(t.chunk(self.num_heads, dim=-1), dim=1)

    def forward(self, x, padding_mask=None):
        q, k, v = self.heads(self.query(x)), self.heads(self.key(x)), self.heads(self.value(x))
        root = q.shape[-1] ** -0.25
        w = self.softmax((q * root) @ (k * root).transpose(-1, -2), visible(x, padding_mask))
        w = self.dropout(w)
        joined = torch.cat((w @ v).unbind(1), dim=-1)
        return Attended(self.dropout(self.out(joined)), w)
