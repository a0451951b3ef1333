# mha-grade: free; expect: failed; in: dropout; mistake: dropout-misplaced; line: 23
import torch
from torch import nn


class GPTSelfAttention(nn.Module):
    def __init__(self, n_embd, n_head, block_size, attn_pdrop=0.1):
        super().__init__()
        assert n_embd % n_head == 0
        self.n_head = n_head
        self.key = nn.Linear(n_embd, n_embd)
        self.query = nn.Linear(n_embd, n_embd)
        self.value = nn.Linear(n_embd, n_embd)
        self.proj = nn.Linear(n_embd, n_embd)
        self.attn_drop = nn.Dropout(attn_pdrop)
        self.register_buffer("mask", torch.tril(torch.ones(1, 1, block_size, block_size)))

    def forward(self, x, layer_past=None):
        B, T, C = x.size()
        k = self.key(x).view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        q = self.query(x).view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        v = self.value(x).view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        att = self.attn_drop(q @ k.transpose(-2, -1) * k.size(-1) ** -0.5)
        att = att.masked_fill(self.mask[:, :, :T, :T] == 0, float('-inf')).softmax(dim=-1)
        return self.proj((att @ v).transpose(1, 2).reshape(B, T, C)), None
