# mha-grade: free; expect: failed; in: scaling, causal-mask; mistake: missing-scale, causal-one-ahead; line: 35, 35
import torch
import torch.nn as nn


class HookPoint(nn.Module):
    def forward(self, x):
        return x


class Attention(nn.Module):
    """Interpretability style: every stage goes through a hook point."""

    def __init__(self, d_model, n_heads, causal=True):
        super().__init__()
        if d_model % n_heads:
            raise ValueError("d_model % n_heads")
        d_head = d_model // n_heads
        shape = (n_heads, d_model, d_head)
        self.W_Q, self.W_K, self.W_V = (nn.Parameter(torch.randn(shape) * 0.02) for _ in range(3))
        self.W_O = nn.Parameter(torch.randn(n_heads, d_head, d_model) * 0.02)
        self.b_Q, self.b_K, self.b_V = (nn.Parameter(torch.zeros(n_heads, d_head)) for _ in range(3))
        self.b_O = nn.Parameter(torch.zeros(d_model))
        self.causal, self.d_head = causal, d_head
        self.hook_q, self.hook_k, self.hook_v = HookPoint(), HookPoint(), HookPoint()
        self.hook_pattern, self.hook_z = HookPoint(), HookPoint()

    def forward(self, x):
        q = self.hook_q(torch.einsum("bpd,hde->bphe", x, self.W_Q) + self.b_Q)
        k = self.hook_k(torch.einsum("bpd,hde->bphe", x, self.W_K) + self.b_K)
        v = self.hook_v(torch.einsum("bpd,hde->bphe", x, self.W_V) + self.b_V)
        s = torch.einsum("bqhe,bkhe->bhqk", q, k)
        if self.causal:
            n = x.shape[1]
            s = s.masked_fill(torch.triu(torch.ones(n, n, device=x.device, dtype=torch.bool), 2), float("-inf"))
        z = self.hook_z(torch.einsum("bhqk,bkhe->bqhe", self.hook_pattern(s.softmax(-1)), v))
        return torch.einsum("bqhe,hed->bqd", z, self.W_O) + self.b_O
