# mha-grade: free; expect: failed; in: non-contiguous; mistake: view-on-non-contiguous; line: 13
import torch
from torch import nn


class Conv1D(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.w = nn.Parameter(torch.randn(n_in, n_out) * 0.02)
        self.b = nn.Parameter(torch.zeros(n_out))

    def forward(self, x):
        flat = x.view(-1, x.shape[-1])
        return torch.addmm(self.b, flat, self.w).view(*x.shape[:-1], -1)


class Attention(nn.Module):
    def __init__(self, n_state, n_head, n_ctx=128):
        super().__init__()
        assert n_state % n_head == 0
        self.n_head = n_head
        self.c_attn = Conv1D(n_state, 3 * n_state)
        self.c_proj = Conv1D(n_state, n_state)
        self.register_buffer('b', torch.ones(n_ctx, n_ctx).tril())

    def forward(self, x):
        n, t, d = x.shape
        q, k, v = self.c_attn(x).chunk(3, dim=2)
        q, k, v = (y.reshape(n, t, self.n_head, -1).transpose(1, 2) for y in (q, k, v))
        w = q @ k.mT / (d // self.n_head) ** 0.5
        w = w.masked_fill(self.b[:t, :t] == 0, float('-inf')).softmax(dim=-1)
        a = (w @ v).transpose(1, 2).contiguous().view(n, t, d)
        return self.c_proj(a)
