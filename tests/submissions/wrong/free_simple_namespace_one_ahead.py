# mha-grade: free; expect: failed; in: causal-mask; mistake: causal-one-ahead
from types import SimpleNamespace

import torch
from torch import nn

cfg = SimpleNamespace(n_embd=384, n_head=6, block_size=256, dropout=0.2)


class CausalSelfAttention(nn.Module):
    def __init__(self, cfg=cfg):
        super().__init__()
        assert cfg.n_embd % cfg.n_head == 0
        self.cfg = cfg
        self.c_attn = nn.Linear(cfg.n_embd, 3 * cfg.n_embd)
        self.c_proj = nn.Linear(cfg.n_embd, cfg.n_embd)
        self.attn_dropout = nn.Dropout(cfg.dropout)
        self.resid_dropout = nn.Dropout(cfg.dropout)

    def forward(self, x):
        B, T, C = x.size()
        nh = self.cfg.n_head
        q, k, v = (part.view(B, T, nh, C // nh).transpose(1, 2) for part in self.c_attn(x).split(C, dim=2))
        future = torch.triu(torch.ones(T, T, device=x.device, dtype=torch.bool), diagonal=2)
        att = (q @ k.transpose(-2, -1)) * (C // nh) ** -0.5
        att = att.masked_fill(future, float("-inf")).softmax(dim=-1)
        y = self.attn_dropout(att) @ v
        return self.resid_dropout(self.c_proj(y.transpose(1, 2).reshape(B, T, C)))
