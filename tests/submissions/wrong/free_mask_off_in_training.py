# mha-grade: free; expect: failed; in: dropout; mistake: training-mode-differs; line: 20
import torch
import torch.nn as nn
import torch.nn.functional as F


class SelfAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        assert dim % heads == 0
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)
        self.drop = nn.Dropout(0.1)

    def forward(self, x, mask=None):
        b, n, d = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        att = q @ k.transpose(-2, -1) / (d // self.heads) ** 0.5
        if mask is not None and not self.training:
            att = att.masked_fill(~mask, float("-inf"))
        att = self.drop(F.softmax(att, -1).nan_to_num(0.0))
        return self.out((att @ v).transpose(1, 2).reshape(b, n, d))
