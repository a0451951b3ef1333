# mha-grade: self-attention; expect: failed; in: scaling, combined-masks; mistake: scale-by-sqrt-length, mask-of-first-head; line: 26, 22
import torch
from torch import einsum, nn


class EinsumAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("the heads do not divide the width")
        size = d_model // num_heads
        shapes = {"w": (num_heads, d_model, size), "b": (num_heads, 1, size)}
        for role in "qkv":
            for kind, shape in shapes.items():
                setattr(self, kind + role, nn.Parameter(torch.randn(shape) / d_model**0.5))
        self.wo = nn.Parameter(torch.randn(num_heads, size, d_model) / d_model**0.5)
        self.bo = nn.Parameter(torch.zeros(d_model))
        self.drop = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        if mask is not None and mask.dim() == 4:
            mask = mask[:, :1]
        q = einsum("bnm,hmd->bhnd", x, self.wq) + self.bq
        k = einsum("bnm,hmd->bhnd", x, self.wk) + self.bk
        v = einsum("bnm,hmd->bhnd", x, self.wv) + self.bv
        logits = einsum("bhid,bhjd->bhij", q, k) * q.shape[-2] ** -0.5
        if mask is not None:
            logits = logits.masked_fill(mask.logical_not(), torch.finfo(logits.dtype).min)
        share = torch.softmax(logits, -1)
        if mask is not None:
            share = share.masked_fill(mask.logical_not(), 0)
        mixed = einsum("bhij,bhjd->bhid", self.drop(share), v)
        return einsum("bhid,hdm->bim", mixed, self.wo) + self.bo, share
