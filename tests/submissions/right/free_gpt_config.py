# mha-grade: free; expect: passed
import math
from dataclasses import dataclass

import torch
import torch.nn as nn
from torch.nn import functional as F


@dataclass
class GPTConfig:
    block_size: int = 128
    n_layer: int = 4
    n_head: int = 4
    n_embd: int = 64
    dropout: float = 0.0
    bias: bool = True


class CausalSelfAttention(nn.Module):

    def __init__(self, config: GPTConfig):
        super().__init__()
        assert config.n_embd % config.n_head == 0
        self.n_head, self.n_embd = config.n_head, config.n_embd
        # one matrix for all three
        self.c_attn = nn.Linear(config.n_embd, 3 * config.n_embd, bias=config.bias)
        self.c_proj = nn.Linear(config.n_embd, config.n_embd, bias=config.bias)
        self.attn_drop = nn.Dropout(config.dropout)
        self.resid_drop = nn.Dropout(config.dropout)
        tri = torch.ones(config.block_size, config.block_size, dtype=torch.bool).tril()
        self.register_buffer("allowed", tri[None, None], persistent=False)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
                   for t in self.c_attn(x).split(self.n_embd, dim=-1))
        att = torch.matmul(q, k.mT) / math.sqrt(q.size(-1))
        att = att.masked_fill(~self.allowed[..., :T, :T], -torch.inf)
        y = self.attn_drop(F.softmax(att, -1)) @ v
        return self.resid_drop(self.c_proj(y.transpose(1, 2).flatten(2)))
