# mha-grade: free; expect: refused
import torch
import torch.nn as nn
import torch.nn.functional as F

n_embd = 64
n_head = 4


class MultiHeadAttention(nn.Module):
    def __init__(self):
        super().__init__()
        assert n_embd % n_head == 0
        self.qkv = nn.Linear(n_embd, 3 * n_embd, bias=False)
        self.proj = nn.Linear(n_embd, n_embd)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, n_head, C // n_head).permute(2, 0, 3, 1, 4)
        mask = torch.tril(torch.ones(T, T)).cuda()
        wei = (q @ k.transpose(-2, -1)) * (C // n_head) ** -0.5
        wei = wei.masked_fill(mask == 0, float('-inf'))
        out = F.softmax(wei, dim=-1) @ v
        return self.proj(out.transpose(1, 2).reshape(B, T, C))
