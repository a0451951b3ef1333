# mha-grade: causal-self-attention; expect: failed; in: causal-mask; mistake: length-limited; line: 20
import math

import torch
from torch import nn

BLOCK_SIZE = 8


class CausalSelfAttention(nn.Module):
    def __init__(self, n_embd, n_head, dropout=0.0):
        super().__init__()
        if n_embd % n_head != 0:
            raise ValueError("n_embd must be divisible by n_head")
        self.n_head = n_head
        self.n_embd = n_embd
        self.c_attn = nn.Linear(n_embd, 3 * n_embd, bias=False)
        self.c_proj = nn.Linear(n_embd, n_embd, bias=False)
        self.attn_dropout = nn.Dropout(dropout)
        self.register_buffer("tril", torch.ones(BLOCK_SIZE, BLOCK_SIZE, dtype=torch.bool).tril())

    def forward(self, x, padding_mask=None):
        B, T, C = x.shape
        q, k, v = self.c_attn(x).split(self.n_embd, dim=-1)
        q = q.view(B, T, self.n_head, -1).transpose(1, 2)
        k = k.view(B, T, self.n_head, -1).transpose(1, 2)
        v = v.view(B, T, self.n_head, -1).transpose(1, 2)

        visible = self.tril[:T, :T]
        if padding_mask is not None:
            visible = visible & padding_mask[:, None, None, :]

        att = q @ k.transpose(-2, -1) / math.sqrt(C // self.n_head)
        att = att.masked_fill(~visible, torch.finfo(att.dtype).min).softmax(dim=-1)
        att = att.masked_fill(~visible, 0.0)
        y = (self.attn_dropout(att) @ v).transpose(1, 2).reshape(B, T, C)
        return self.c_proj(y), att
