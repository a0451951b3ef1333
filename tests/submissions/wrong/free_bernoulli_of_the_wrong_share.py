# mha-grade: free; expect: failed; in: dropout; mistake: dropout-rate-wrong; line: 43
import numpy as np
import torch
from torch import nn


class MultiHeadedAttention(nn.Module):
    """Cross-attention with dropout that is written out."""

    def __init__(self, h, d_model, dropout=0.1):
        super().__init__()
        if d_model % h:
            raise ValueError("h has to divide d_model")
        self.d_k = d_model // h
        self.h = h
        self.linears = nn.ModuleList([nn.Linear(d_model, d_model) for _ in range(4)])
        self.p = dropout

    def forward(self, query, key, value, mask=None):
        if mask is not None:
            mask = mask.unsqueeze(1)
        nbatches = query.size(0)
        query, key, value = (
            linear(x).view(nbatches, -1, self.h, self.d_k).transpose(1, 2)
            for linear, x in zip(self.linears, (query, key, value))
        )
        x = self.attention(query, key, value, mask)
        x = x.transpose(1, 2).contiguous().view(nbatches, -1, self.h * self.d_k)
        return self.linears[-1](x)

    def attention(self, query, key, value, mask):
        scores = torch.matmul(query, key.transpose(-2, -1)) / np.sqrt(self.d_k)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, torch.finfo(scores.dtype).min)
        p_attn = scores.softmax(dim=-1)
        if mask is not None:
            p_attn = p_attn.masked_fill((mask == 0).all(-1, keepdim=True), 0.0)
        if self.training:
            p_attn = self.drop(p_attn)
        return torch.matmul(p_attn, value)

    def drop(self, p_attn):
        coins = torch.bernoulli(torch.full_like(p_attn, self.p))
        return p_attn * coins / (1 - self.p)
