# mha-grade: cross-attention; expect: failed; in: state, all-masked-rows; mistake: ready-made-attention; line: 12/20
import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("d_model must be divisible by num_heads")
        self.num_heads = num_heads
        self.mha = nn.MultiheadAttention(d_model, num_heads, dropout=dropout, batch_first=True)

    def forward(self, query, key, value, mask=None):
        if mask is not None:
            # one [Lq, Lk] mask per sequence and head, True = hidden
            lengths = (query.size(1), key.size(1))
            mask = mask.expand(query.size(0), self.num_heads, *lengths)
            mask = torch.logical_not(mask).reshape(-1, *lengths)
        return self.mha(query, key, value, attn_mask=mask, average_attn_weights=False)
