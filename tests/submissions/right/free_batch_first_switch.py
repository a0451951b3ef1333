# mha-grade: free; expect: passed
import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, d_model, nhead, dropout=0.1, batch_first=False):
        super().__init__()
        assert d_model % nhead == 0, "d_model must be divisible by nhead"
        self.nhead = nhead
        self.batch_first = batch_first
        self.linear_q = nn.Linear(d_model, d_model)
        self.linear_k = nn.Linear(d_model, d_model)
        self.linear_v = nn.Linear(d_model, d_model)
        self.linear_o = nn.Linear(d_model, d_model)
        self.drop = nn.Dropout(dropout)

    def forward(self, query, key, value, key_padding_mask=None):
        if not self.batch_first:
            query, key, value = (t.transpose(0, 1) for t in (query, key, value))
        n, l, e = query.shape
        q = self.linear_q(query).reshape(n, l, self.nhead, -1).transpose(1, 2)
        k = self.linear_k(key).reshape(n, key.shape[1], self.nhead, -1).transpose(1, 2)
        v = self.linear_v(value).reshape(n, key.shape[1], self.nhead, -1).transpose(1, 2)
        logits = q.matmul(k.transpose(2, 3)) / (e // self.nhead) ** 0.5
        if key_padding_mask is not None:
            pad = key_padding_mask.reshape(n, 1, 1, -1)
            logits = logits.masked_fill(pad, torch.finfo(logits.dtype).min)
            attn = logits.softmax(-1).masked_fill(pad, 0)
        else:
            attn = logits.softmax(-1)
        out = self.linear_o(self.drop(attn).matmul(v).transpose(1, 2).reshape(n, l, e))
        return (out if self.batch_first else out.transpose(0, 1)), attn
