# mha-grade: cross-attention; expect: passed
from __future__ import annotations
import math
import torch
from torch import nn, Tensor
import torch.nn.functional as F


class SplitMixin:
    num_heads: int
    def _split(self, t: Tensor) -> Tensor:
        b, l, d = t.shape
        return t.reshape(b, l, self.num_heads, d // self.num_heads).permute(0, 2, 1, 3)
    @staticmethod
    def _merge(t: Tensor) -> Tensor:
        return t.permute(0, 2, 1, 3).flatten(-2)
class AttentionBase(nn.Module):
    dropout_rate: float = 0.0
    def __init__(self, d_model: int, num_heads: int, dropout: float = 0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"{d_model=} {num_heads=}")
        self.num_heads = num_heads
        self.d_head = d_model // num_heads
        self.dropout_rate = dropout
        self._build(d_model)
    def _build(self, d): raise NotImplementedError
    @property
    def scale(self) -> float: return self.d_head ** -0.5
    def attend(self, q, k, v, mask):
        s = torch.matmul(q * self.scale, k.transpose(-1, -2))
        if mask is None:
            w = F.softmax(s, dim=-1)
        else:
            s = torch.where(mask, s, torch.tensor(torch.finfo(s.dtype).min, dtype=s.dtype, device=s.device))
            w = torch.where(mask, F.softmax(s, dim=-1), torch.zeros((), dtype=s.dtype, device=s.device))
        return F.dropout(w, p=self.dropout_rate, training=self.training) @ v, w
class MultiHeadCrossAttention(SplitMixin, AttentionBase):
    def _build(self, d):
        self.to_q = nn.Linear(d, d, bias=False)
        self.to_kv_key = nn.Linear(d, d, bias=False)
        self.to_kv_value = nn.Linear(d, d, bias=False)
        self.to_out = nn.Sequential(nn.Linear(d, d), nn.Identity())
    def forward(self, query, key, value, mask=None):
        c, w = self.attend(self._split(self.to_q(query)), self._split(self.to_kv_key(key)), self._split(self.to_kv_value(value)), mask)
        return self.to_out(self._merge(c)), w
