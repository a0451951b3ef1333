# mha-grade: free; expect: failed; in: causal-mask; mistake: causal-mask-missing; line: 22
import torch
from torch import nn


class CausalSelfAttention(nn.Module):
    def __init__(self, n_heads, n_embd, block_size, p=0.0):
        super().__init__()
        assert n_embd % n_heads == 0
        self.n_heads = n_heads
        self.c_q = nn.Linear(n_embd, n_embd)
        self.c_kv = nn.Linear(n_embd, 2 * n_embd)
        self.c_proj = nn.Linear(n_embd, n_embd)
        self.drop = nn.Dropout(p)
        self.register_buffer("keep", torch.ones(block_size, block_size).tril().bool())

    def forward(self, x):
        B, T, C = x.shape
        q = self.c_q(x).view(B, T, self.n_heads, -1).transpose(1, 2)
        k, v = self.c_kv(x).view(B, T, 2, self.n_heads, -1).permute(2, 0, 3, 1, 4)
        att = (q @ k.transpose(-2, -1)) * (C // self.n_heads) ** -0.5
        att = att.masked_fill(~self.keep[-T:, :T], float("-inf"))
        att = self.drop(att.softmax(-1))
        return self.c_proj((att @ v).transpose(1, 2).reshape(B, T, C))
