# mha-grade: free; expect: failed
import torch
import torch.nn as nn


class ALiBiSelfAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        assert dim % heads == 0
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.out = nn.Linear(dim, dim, bias=False)

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = (t.view(b, n, self.heads, -1).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        slopes = 2.0 ** (-8 / self.heads * torch.arange(1, self.heads + 1, dtype=x.dtype, device=x.device))
        pos = torch.arange(n, dtype=x.dtype, device=x.device)
        bias = slopes[:, None, None] * (pos[:, None] - pos[None, :]).abs()
        w = (q @ k.transpose(-1, -2) / (d // self.heads) ** 0.5 + bias).softmax(-1)
        return self.out((w @ v).transpose(1, 2).reshape(b, n, d))
