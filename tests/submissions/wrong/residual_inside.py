# mha-grade: self-attention; expect: failed; in: shapes; mistake: residual-inside; line: 35
import math

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_head, dropout=0.0):
        super().__init__()
        if d_model % n_head != 0:
            raise ValueError("d_model must be divisible by n_head")
        self.n_head = n_head
        self.d_k = d_model // n_head
        self.w_q = nn.Linear(d_model, d_model, bias=False)
        self.w_k = nn.Linear(d_model, d_model, bias=False)
        self.w_v = nn.Linear(d_model, d_model, bias=False)
        self.fc = nn.Linear(d_model, d_model, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        residual = x
        b, l, d = x.shape
        q = self.w_q(x).view(b, l, self.n_head, self.d_k).transpose(1, 2)
        k = self.w_k(x).view(b, l, self.n_head, self.d_k).transpose(1, 2)
        v = self.w_v(x).view(b, l, self.n_head, self.d_k).transpose(1, 2)
        attn = torch.matmul(q / math.sqrt(self.d_k), k.transpose(2, 3))
        if mask is not None:
            attn = attn.masked_fill(mask == 0, torch.finfo(attn.dtype).min)
        attn = torch.softmax(attn, dim=-1)
        if mask is not None:
            attn = attn.masked_fill(mask == 0, 0.0)
        out = torch.matmul(self.dropout(attn), v)
        out = self.fc(out.transpose(1, 2).contiguous().view(b, l, d))
        out += residual
        return out, attn
