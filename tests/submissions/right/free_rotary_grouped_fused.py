# mha-grade: free; expect: passed
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class LMConfig:
    n_embd: int = 64
    n_head: int = 8
    n_kv_head: int = 4
    dropout: float = 0.0
    rope_base: float = 10000.0


class CausalGQA(nn.Module):
    def __init__(self, config: LMConfig):
        super().__init__()
        assert config.n_embd % config.n_head == 0 and config.n_head % config.n_kv_head == 0
        self.nq, self.nkv = config.n_head, config.n_kv_head
        self.hd = config.n_embd // config.n_head
        self.qkv = nn.Linear(config.n_embd, (self.nq + 2 * self.nkv) * self.hd, bias=False)
        self.out = nn.Linear(config.n_embd, config.n_embd, bias=False)
        self.drop = nn.Dropout(config.dropout)
        self.base = config.rope_base

    def rope(self, x):
        t, half = x.shape[-2], self.hd // 2
        freq = self.base ** -(torch.arange(half, device=x.device, dtype=torch.float32) / half)
        ang = torch.arange(t, device=x.device, dtype=torch.float32)[:, None] * freq
        cos, sin = ang.cos().type_as(x), ang.sin().type_as(x)
        a, b = x[..., :half], x[..., half:]
        return torch.cat((a * cos - b * sin, b * cos + a * sin), -1)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).split([self.nq * self.hd, self.nkv * self.hd, self.nkv * self.hd], dim=-1)
        q = self.rope(q.view(B, T, self.nq, self.hd).transpose(1, 2))
        k = self.rope(k.view(B, T, self.nkv, self.hd).transpose(1, 2))
        v = v.view(B, T, self.nkv, self.hd).transpose(1, 2)
        q = q.view(B, self.nkv, self.nq // self.nkv, T, self.hd)
        s = torch.einsum("bgrtd,bgsd->bgrts", q, k) * self.hd**-0.5
        s = s.masked_fill(torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1), float("-inf"))
        y = torch.einsum("bgrts,bgsd->btgrd", self.drop(s.softmax(-1)), v).reshape(B, T, C)
        return self.out(y)
