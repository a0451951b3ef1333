# mha-grade: cross-attention; expect: failed; in: all-masked-rows; mistake: dead-rows-not-zero; line: 33
import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    """All four maps in one table of parameters, applied with tensordot; heads by unfold."""

    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("num_heads must divide d_model")
        self.step = d_model // num_heads
        self.table = nn.ParameterDict()
        for key in "qkvo":
            self.table["w" + key] = nn.Parameter(torch.randn(d_model, d_model) * d_model**-0.5)
            self.table["b" + key] = nn.Parameter(torch.zeros(d_model))
        self.drop = nn.Dropout(dropout)

    def through(self, key, x):
        return x @ self.table["w" + key].mT + self.table["b" + key]

    def heads(self, key, x):
        return self.through(key, x).unfold(-1, self.step, self.step).movedim(-2, 1)

    def forward(self, query, key, value, mask=None):
        q, k, v = self.heads("q", query), self.heads("k", key), self.heads("v", value)
        logits = torch.einsum("bhid,bhjd->bhij", q, k).div(self.step**0.5)
        weights = logits.softmax(-1)
        if mask is not None:
            lowest = torch.finfo(logits.dtype).min
            weights = torch.where(mask, logits, lowest).softmax(-1)
            weights = weights * mask.any(-2, keepdim=True)

        mixed = torch.einsum("bhij,bhjd->bihd", self.drop(weights), v)
        return self.through("o", mixed.flatten(-2)), weights
