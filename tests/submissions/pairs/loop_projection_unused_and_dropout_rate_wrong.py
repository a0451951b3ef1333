# mha-grade: self-attention; expect: failed; in: shapes, dropout; mistake: projection-unused, dropout-rate-wrong; line: 24, 38
import torch
import torch.nn.functional as F
from torch import nn


class LoopAttention(nn.Module):
    """One head after the other, on slices of the rows of one weight."""

    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads > 0:
            raise ValueError("d_model % num_heads has to be 0")
        self.num_heads, self.rate = num_heads, dropout
        self.in_weight = nn.Parameter(torch.empty(3 * d_model, d_model).normal_(0, 0.1))
        self.in_bias = nn.Parameter(torch.zeros(3 * d_model))
        self.last = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        batch, length, width = x.shape
        size = width // self.num_heads
        queries = F.linear(x, self.in_weight[:width], self.in_bias[:width])
        keys = F.linear(x, self.in_weight[width:-width], self.in_bias[width:-width])
        values = x
        if mask is not None:
            mask = mask.expand(batch, self.num_heads, length, length)
        outputs, maps = [], []
        for head in range(self.num_heads):
            own = slice(head * size, (head + 1) * size)
            scores = queries[..., own] @ keys[..., own].transpose(-2, -1)
            scores = scores * size**-0.5
            if mask is not None:
                scores = scores.masked_fill(~mask[:, head], torch.finfo(scores.dtype).min)
            attention = scores.softmax(dim=-1)
            if mask is not None:
                attention = attention * mask[:, head]
            maps.append(attention)
            attention = F.dropout(attention, p=self.rate / 2, training=self.training)
            outputs.append(attention @ values[..., own])
        return self.last(torch.cat(outputs, dim=-1)), torch.stack(maps, dim=1)
