# mha-grade: free; expect: failed; in: scaling; mistake: scale-by-sqrt-batch; line: 8/9
import torch
from torch import nn


class Attention(nn.Module):
    def forward(self, q, k, v):
        d_k = k.size(0)
        weights = torch.softmax(torch.matmul(q, k.transpose(-2, -1)) / d_k ** 0.5, dim=-1)
        return torch.matmul(weights, v)


class MultiHead(nn.Module):
    def __init__(self, size, heads):
        super().__init__()
        if size % heads != 0:
            raise ValueError("size must be divisible by heads")
        self.heads, self.head_size = heads, size // heads
        self.w_k = nn.Linear(size, size, bias=False)
        self.w_q = nn.Linear(size, size, bias=False)
        self.w_v = nn.Linear(size, size, bias=False)
        self.w_o = nn.Linear(size, size, bias=False)
        self.core = Attention()

    def forward(self, k, q, v):
        k, q, v = self.w_k(k), self.w_q(q), self.w_v(v)
        k, q, v = (t.view(t.size(0), -1, self.heads, self.head_size).transpose(1, 2) for t in (k, q, v))
        out = self.core(q, k, v)
        return self.w_o(out.transpose(1, 2).reshape(out.size(0), -1, self.heads * self.head_size))
