# mha-grade: free; expect: passed
import torch
import torch.nn as nn


class MHA(nn.Module):
    def __init__(self, d_in, d_out, num_heads):
        super().__init__()
        assert d_out % num_heads == 0
        self.h, self.dh = num_heads, d_out // num_heads
        self.W_q = nn.Parameter(torch.randn(d_in, d_out) * d_in ** -0.5)
        self.W_k = nn.Parameter(torch.randn(d_in, d_out) * d_in ** -0.5)
        self.W_v = nn.Parameter(torch.randn(d_in, d_out) * d_in ** -0.5)
        self.W_o = nn.Parameter(torch.randn(d_out, d_out) * d_out ** -0.5)

    def forward(self, x):
        b, n, _ = x.shape
        q, k, v = x @ self.W_q, x @ self.W_k, x @ self.W_v
        q, k, v = [t.reshape(b, n, self.h, self.dh).swapaxes(1, 2) for t in (q, k, v)]
        a = torch.softmax(q @ k.swapaxes(2, 3) / self.dh ** 0.5, dim=-1)
        return (a @ v).swapaxes(1, 2).reshape(b, n, -1) @ self.W_o
