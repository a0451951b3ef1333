# mha-grade: self-attention; expect: passed
import math

import torch
from torch import nn


class EinsumAttention(nn.Module):
    # letters: b batch, l query, m key, h head, d model width, e head width

    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("d_model has to be divisible by num_heads")
        e = d_model // num_heads
        self.wq = nn.Parameter(torch.empty(num_heads, d_model, e))
        self.wk = nn.Parameter(torch.empty(num_heads, d_model, e))
        self.wv = nn.Parameter(torch.empty(num_heads, d_model, e))
        self.wo = nn.Parameter(torch.empty(num_heads, e, d_model))
        self.bo = nn.Parameter(torch.zeros(d_model))
        self.dropout = nn.Dropout(dropout)
        for w in (self.wq, self.wk, self.wv, self.wo):
            nn.init.normal_(w, std=d_model**-0.5)

    def forward(self, x, mask=None):
        q = torch.einsum("bld,hde->bhle", x, self.wq)
        k = torch.einsum("bmd,hde->bhme", x, self.wk)
        v = torch.einsum("bmd,hde->bhme", x, self.wv)

        scores = torch.einsum("bhle,bhme->bhlm", q, k) / math.sqrt(q.size(-1))
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0)
        weights = self.dropout(weights)

        context = torch.einsum("bhlm,bhme->bhle", weights, v)
        # summing over h and e joins the heads and projects them in one go
        output = torch.einsum("bhle,hed->bld", context, self.wo) + self.bo
        return output, weights
