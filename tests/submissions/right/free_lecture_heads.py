# mha-grade: free; expect: passed
"""Small character model, attention part (following along with the lecture)."""
import torch
import torch.nn as nn
from torch.nn import functional as F

# hyperparameters
n_embd = 96
block_size = 32
dropout = 0.2


class Head(nn.Module):
    """ one head of causal self-attention """

    def __init__(self, head_size):
        super().__init__()
        self.key = nn.Linear(n_embd, head_size, bias=False)
        self.query = nn.Linear(n_embd, head_size, bias=False)
        self.value = nn.Linear(n_embd, head_size, bias=False)
        self.register_buffer('tril', torch.tril(torch.ones(block_size, block_size)))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        T = x.size(1)
        k, q, v = self.key(x), self.query(x), self.value(x)
        wei = q @ k.transpose(1, 2)
        wei = wei / k.size(-1) ** 0.5          # head size, not n_embd
        wei = wei.masked_fill(self.tril[:T, :T] == 0, float('-inf'))
        wei = self.dropout(F.softmax(wei, dim=-1))
        return wei @ v


class MultiHeadAttention(nn.Module):
    """ several heads side by side """

    def __init__(self, num_heads, head_size):
        super().__init__()
        self.heads = nn.ModuleList(Head(head_size) for _ in range(num_heads))
        self.proj = nn.Linear(num_heads * head_size, n_embd)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        joined = torch.cat([head(x) for head in self.heads], dim=-1)
        return self.dropout(self.proj(joined))
