# mha-grade: free; expect: failed; in: padding-mask; mistake: mask-in-order-of-heads; line: 29
import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, n_heads, hid_dim, dropout=0.1):
        super().__init__()
        assert hid_dim % n_heads == 0
        self.n_heads = n_heads
        self.hid_dim = hid_dim
        self.fc_q = nn.Linear(hid_dim, hid_dim)
        self.fc_k = nn.Linear(hid_dim, hid_dim)
        self.fc_v = nn.Linear(hid_dim, hid_dim)
        self.fc_o = nn.Linear(hid_dim, hid_dim)
        self.dropout = nn.Dropout(dropout)

    def to_heads(self, t):
        b, n, _ = t.shape
        t = t.reshape(b, n, self.n_heads, self.hid_dim // self.n_heads).permute(0, 2, 1, 3)
        return t.reshape(b * self.n_heads, n, -1)

    def forward(self, query, key, value, mask=None):
        """mask: [batch, len_q, len_k], True = hide"""
        b, n, _ = query.shape
        q, k, v = self.to_heads(self.fc_q(query)), self.to_heads(self.fc_k(key)), self.to_heads(self.fc_v(value))
        energy = torch.bmm(q, k.transpose(1, 2)) / (self.hid_dim // self.n_heads) ** 0.5
        if mask is not None:
            mask = mask.repeat(self.n_heads, 1, 1)
            energy = energy.masked_fill(mask, torch.finfo(energy.dtype).min)
        attention = torch.softmax(energy, dim=-1)
        if mask is not None:
            attention = attention.masked_fill(mask, 0)
        x = torch.bmm(self.dropout(attention), v)
        x = x.view(b, self.n_heads, n, -1).permute(0, 2, 1, 3).reshape(b, n, self.hid_dim)
        return self.fc_o(x), attention.view(b, self.n_heads, n, -1)
