# mha-grade: free; expect: failed; in: cross-attention; mistake: wrong-cross-length; line: 23
import torch
import torch.nn as nn


class MultiHeadAttn(nn.Module):
    def __init__(self, num_units, num_heads, dropout_rate=0.0):
        super().__init__()
        if num_units % num_heads != 0:
            raise ValueError("num_units must be divisible by num_heads")
        self.num_heads = num_heads
        self.Q_proj = nn.Linear(num_units, num_units)
        self.K_proj = nn.Linear(num_units, num_units)
        self.V_proj = nn.Linear(num_units, num_units)
        self.out_proj = nn.Linear(num_units, num_units)
        self.dropout = nn.Dropout(dropout_rate)

    def forward(self, queries, keys, values, key_mask=None):
        """key_mask: (N, T), True = valid"""
        N, T, C = queries.shape
        split = (N, T, self.num_heads, C // self.num_heads)
        Q = self.Q_proj(queries).reshape(split).transpose(1, 2)
        K = self.K_proj(keys).reshape(split).transpose(1, 2)
        V = self.V_proj(values).reshape(split).transpose(1, 2)
        outputs = torch.matmul(Q, K.transpose(2, 3)) / split[-1] ** 0.5
        if key_mask is not None:
            key_mask = key_mask.view(N, 1, 1, T)
            outputs = outputs.masked_fill(~key_mask, torch.finfo(outputs.dtype).min)
            outputs = outputs.softmax(-1).masked_fill(~key_mask, 0)
        else:
            outputs = outputs.softmax(-1)
        outputs = torch.matmul(self.dropout(outputs), V)
        return self.out_proj(outputs.transpose(1, 2).reshape(N, T, C))
