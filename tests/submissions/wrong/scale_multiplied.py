# mha-grade: cross-attention; expect: failed; in: scaling; mistake: scale-multiplied; line: 15/29
import math

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int, dropout: float = 0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("d_model must be divisible by num_heads")
        self.num_heads = num_heads
        self.head_dim = d_model // num_heads
        self.scale = math.sqrt(self.head_dim)
        self.fc_q = nn.Linear(d_model, d_model)
        self.fc_k = nn.Linear(d_model, d_model)
        self.fc_v = nn.Linear(d_model, d_model)
        self.fc_o = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, query, key, value, mask=None):
        batch_size, q_len, d_model = query.shape
        Q = self.fc_q(query).view(batch_size, q_len, self.num_heads, self.head_dim)
        K = self.fc_k(key).view(batch_size, -1, self.num_heads, self.head_dim)
        V = self.fc_v(value).view(batch_size, -1, self.num_heads, self.head_dim)
        Q, K, V = Q.transpose(1, 2), K.transpose(1, 2), V.transpose(1, 2)

        energy = self.scale * torch.matmul(Q, K.transpose(-1, -2))
        if mask is not None:
            energy = energy.masked_fill(~mask, torch.finfo(energy.dtype).min)
        attention = torch.softmax(energy, dim=-1)
        if mask is not None:
            attention = attention.masked_fill(~mask, 0.0)

        out = torch.matmul(self.dropout(attention), V).transpose(1, 2)
        return self.fc_o(out.reshape(batch_size, q_len, d_model)), attention
