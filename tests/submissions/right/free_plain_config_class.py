# mha-grade: free; expect: passed
import torch
import torch.nn as nn


class Config:
    n_embed = 48
    n_heads = 6
    seq_len = 64
    attn_dropout = 0.1


class Attention(nn.Module):
    def __init__(self, cfg=Config()):
        super().__init__()
        if cfg.n_embed % cfg.n_heads:
            raise ValueError("n_embed must be divisible by n_heads")
        self.n_heads = cfg.n_heads
        self.head_size = cfg.n_embed // cfg.n_heads
        self.key_value = nn.Linear(cfg.n_embed, cfg.n_embed * 2)
        self.query = nn.Linear(cfg.n_embed, cfg.n_embed)
        self.project = nn.Linear(cfg.n_embed, cfg.n_embed)
        self.attn_dropout = nn.Dropout(cfg.attn_dropout)

    def forward(self, x, memory, mask=None):
        """mask: (B, T_x, T_memory) of 0 and 1"""
        k, v = self.key_value(memory).split(x.size(-1), -1)
        q = self.query(x)
        q, k, v = (t.unflatten(-1, (self.n_heads, self.head_size)).permute(0, 2, 1, 3) for t in (q, k, v))
        wei = q @ k.transpose(-2, -1) * self.head_size ** -0.5
        if mask is not None:
            mask = mask[:, None].to(wei.dtype)
            wei = wei.masked_fill(mask == 0, torch.finfo(wei.dtype).min).softmax(-1) * mask
        else:
            wei = wei.softmax(-1)
        out = self.attn_dropout(wei) @ v
        return self.project(out.permute(0, 2, 1, 3).flatten(-2))
