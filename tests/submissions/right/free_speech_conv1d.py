# mha-grade: free; expect: passed
import math

import torch
from torch import nn
from torch.nn import functional as F


class MultiHeadAttention(nn.Module):
    """Everything is (batch, channels, time) here."""

    def __init__(self, channels, out_channels, n_heads, p_dropout=0.0):
        super().__init__()
        assert channels % n_heads == 0
        self.n_heads = n_heads
        self.k_channels = channels // n_heads
        self.conv_q = nn.Conv1d(channels, channels, 1)
        self.conv_k = nn.Conv1d(channels, channels, 1)
        self.conv_v = nn.Conv1d(channels, channels, 1)
        self.conv_o = nn.Conv1d(channels, out_channels, 1)
        self.drop = nn.Dropout(p_dropout)

    def forward(self, x, c, attn_mask=None):
        q, k, v = self.conv_q(x), self.conv_k(c), self.conv_v(c)
        return self.conv_o(self.attention(q, k, v, attn_mask))

    def attention(self, q, k, v, mask):
        b, d, t_t = q.size()
        t_s = k.size(2)
        q = q.reshape(b, self.n_heads, self.k_channels, t_t)
        k = k.reshape(b, self.n_heads, self.k_channels, t_s)
        v = v.reshape(b, self.n_heads, self.k_channels, t_s)
        scores = torch.matmul(q.transpose(2, 3) / math.sqrt(self.k_channels), k)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, torch.finfo(scores.dtype).min)
        p = F.softmax(scores, dim=-1)
        if mask is not None:
            p = p.masked_fill(mask == 0, 0)
        out = torch.matmul(v, self.drop(p).transpose(2, 3))    # b, h, d, t_t
        return out.reshape(b, d, t_t)
