# mha-grade: free; expect: failed; in: dropout; mistake: dropout-renormalised; line: 20
import torch
import torch.nn as nn


class Attention(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.1):
        super().__init__()
        assert d_model % num_heads == 0
        self.num_heads = num_heads
        self.qkv = nn.Linear(d_model, 3 * d_model)
        self.out = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = (y.view(b, t, self.num_heads, -1).transpose(1, 2) for y in self.qkv(x).chunk(3, -1))
        p = (q @ k.transpose(-2, -1) / (d // self.num_heads) ** 0.5).softmax(-1)
        p = self.dropout(p)
        p = p / p.sum(-1, keepdim=True).clamp_min(1e-9)
        return self.out((p @ v).transpose(1, 2).reshape(b, t, d))
