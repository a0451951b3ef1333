# mha-grade: cross-attention; expect: passed
import math

import torch
import torch.nn.functional as F
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("d_model must be divisible by num_heads")
        self.h = num_heads
        # one packed matrix, cut in three when used
        self.in_proj_weight = nn.Parameter(torch.empty(3 * d_model, d_model))
        self.in_proj_bias = nn.Parameter(torch.zeros(3 * d_model))
        self.out_weight = nn.Parameter(torch.empty(d_model, d_model))
        self.out_bias = nn.Parameter(torch.zeros(d_model))
        self.p = dropout
        nn.init.xavier_uniform_(self.in_proj_weight)
        nn.init.xavier_uniform_(self.out_weight)

    def forward(self, query, key, value, mask=None):
        B, Lq, D = query.shape
        w_q, w_k, w_v = self.in_proj_weight.chunk(3)
        b_q, b_k, b_v = self.in_proj_bias.chunk(3)
        q = F.linear(query, w_q, b_q).view(B, Lq, self.h, -1).transpose(1, 2)
        k = F.linear(key, w_k, b_k).view(B, key.size(1), self.h, -1).transpose(1, 2)
        v = F.linear(value, w_v, b_v).view(B, value.size(1), self.h, -1).transpose(1, 2)

        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(D // self.h)
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = F.softmax(scores, dim=-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0.0)
        weights = F.dropout(weights, self.p, training=self.training)

        context = torch.matmul(weights, v).transpose(1, 2).reshape(B, Lq, D)
        return F.linear(context, self.out_weight, self.out_bias), weights
