# mha-grade: cross-attention; expect: failed; in: scaling; mistake: softmax-over-heads; line: 29
import torch
import torch.nn.functional as F
from torch import nn


class Attention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("heads do not divide the width")
        self.nh = num_heads
        self.hd = d_model // num_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.o_proj = nn.Linear(d_model, d_model)
        self.dropout = dropout

    def forward(self, query, key, value, mask=None):
        B, Lq, D = query.shape
        Lk = key.shape[1]
        q = self.q_proj(query).view(B, Lq, self.nh, self.hd).transpose(1, 2)
        k = self.k_proj(key).view(B, Lk, self.nh, self.hd).transpose(1, 2)
        v = self.v_proj(value).view(B, Lk, self.nh, self.hd).transpose(1, 2)
        s = q @ k.transpose(-2, -1) * self.hd**-0.5
        if mask is not None:
            s = s.masked_fill(~mask, torch.finfo(s.dtype).min)
        a = F.softmax(s, dim=1)
        if mask is not None:
            a = a.masked_fill(~mask, 0.0)
        a = F.dropout(a, self.dropout, self.training)
        o = (a @ v).transpose(1, 2).reshape(B, Lq, D)
        return self.o_proj(o), a
