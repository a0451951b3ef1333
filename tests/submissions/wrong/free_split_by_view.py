# mha-grade: free; expect: failed; in: shapes; mistake: split-without-transpose; line: 16
import torch
from torch import nn


class MHA(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        assert width % heads == 0
        self.width, self.heads = width, heads
        self.kqv = nn.Parameter(torch.randn(3, width, width) / width ** 0.5)
        self.mix = nn.Parameter(torch.randn(width, width) / width ** 0.5)

    def forward(self, x):
        b, n, _ = x.shape
        k, q, v = [(x @ w).reshape(b, self.heads, n, -1) for w in self.kqv]
        p = torch.softmax(torch.einsum('bhid,bhjd->bhij', q, k) / q.size(-1) ** 0.5, dim=-1)
        return torch.einsum('bhij,bhjd->bihd', p, v).reshape(b, n, self.width) @ self.mix
