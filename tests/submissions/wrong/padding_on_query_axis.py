# mha-grade: causal-self-attention; expect: failed; in: padding-mask; mistake: padding-on-query-axis; line: 29
import math

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("d_model must be divisible by num_heads")
        self.num_heads = num_heads
        self.head_dim = d_model // num_heads
        self.fc_q = nn.Linear(d_model, d_model)
        self.fc_k = nn.Linear(d_model, d_model)
        self.fc_v = nn.Linear(d_model, d_model)
        self.fc_o = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, padding_mask=None):
        B, T, C = x.shape
        q = self.fc_q(x).view(B, T, self.num_heads, self.head_dim).permute(0, 2, 1, 3)
        k = self.fc_k(x).view(B, T, self.num_heads, self.head_dim).permute(0, 2, 1, 3)
        v = self.fc_v(x).view(B, T, self.num_heads, self.head_dim).permute(0, 2, 1, 3)

        ok = torch.ones(T, T, dtype=torch.bool, device=x.device).tril()
        if padding_mask is not None:
            ok = ok & padding_mask[:, None, :, None]  # [B, 1, T, 1]

        energy = torch.einsum("bhqd,bhkd->bhqk", q, k) / math.sqrt(self.head_dim)
        energy = energy.masked_fill(~ok, torch.finfo(energy.dtype).min)
        attention = energy.softmax(dim=-1).masked_fill(~ok, 0.0)
        y = torch.einsum("bhqk,bhkd->bqhd", self.dropout(attention), v)
        return self.fc_o(y.reshape(B, T, C)), attention
