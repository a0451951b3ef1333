# mha-grade: free; expect: passed
import torch
from torch import nn


class GroupedAttention(nn.Module):
    """One matrix; its rows go group by group: the queries of a group, its key, its value."""

    def __init__(self, d_model, n_heads, n_kv_heads=None):
        super().__init__()
        n_kv_heads = n_kv_heads or n_heads
        assert d_model % n_heads == 0 and n_heads % n_kv_heads == 0
        self.n_heads, self.n_kv, self.hd = n_heads, n_kv_heads, d_model // n_heads
        self.wqkv = nn.Linear(d_model, (n_heads + 2 * n_kv_heads) * self.hd, bias=False)
        self.wo = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x):
        b, l, m = x.shape
        per = self.n_heads // self.n_kv
        qkv = self.wqkv(x).view(b, l, self.n_kv, per + 2, self.hd)
        q = qkv[:, :, :, :per].reshape(b, l, self.n_heads, self.hd)
        k = qkv[:, :, :, per].repeat_interleave(per, dim=2)
        v = qkv[:, :, :, per + 1].repeat_interleave(per, dim=2)
        q, k, v = q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)
        att = (q @ k.mT / self.hd**0.5).softmax(-1)
        return self.wo((att @ v).transpose(1, 2).reshape(b, l, m))
