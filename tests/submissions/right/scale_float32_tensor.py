# mha-grade: self-attention; expect: passed
from __future__ import annotations
import math
import torch
from torch import nn, Tensor
import torch.nn.functional as F


def safe(scores, mask):
    if mask is None:
        return scores.softmax(-1)
    scores = scores.masked_fill(mask.logical_not(), torch.finfo(scores.dtype).min)
    return scores.softmax(-1) * mask


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0, bias=True, max_len=None, *, device=None, dtype=None):
        super().__init__()
        kw = {"device": device, "dtype": dtype}
        if d_model % num_heads: raise ValueError("no")
        self.h, self.p = num_heads, dropout
        self.in_proj_weight = nn.Parameter(torch.empty(3 * d_model, d_model, **kw))
        self.in_proj_bias = nn.Parameter(torch.zeros(3 * d_model, **kw)) if bias else None
        self.out_proj = nn.Linear(d_model, d_model, bias=bias, **kw)
        self.reset_parameters()
    def reset_parameters(self):
        nn.init.xavier_uniform_(self.in_proj_weight)
        if self.in_proj_bias is not None: nn.init.zeros_(self.in_proj_bias)
    def forward(self, x, mask=None):
        B, L, D = x.shape
        q, k, v = F.linear(x, self.in_proj_weight, self.in_proj_bias).unflatten(-1, (3, self.h, -1)).permute(2, 0, 3, 1, 4).unbind(0)
        w = safe(q @ k.mT / torch.sqrt(torch.tensor(q.size(-1))), mask)
        return self.out_proj((F.dropout(w, self.p, self.training) @ v).transpose(1, 2).reshape(x.shape)), w
