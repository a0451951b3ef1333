# mha-grade: free; expect: failed; in: shapes; mistake: running-softmax-not-rescaled; line: 39
import math

import torch
from torch import nn


class StreamedAttention(nn.Module):
    """Causal; keys come in blocks, with a running maximum and sum."""

    def __init__(self, d_model, n_heads, block_size=3):
        super().__init__()
        assert d_model % n_heads == 0, "d_model must be divisible by n_heads"
        self.n_heads, self.d_head, self.block_size = n_heads, d_model // n_heads, block_size
        self.W_Q = nn.Linear(d_model, d_model)
        self.W_K = nn.Linear(d_model, d_model)
        self.W_V = nn.Linear(d_model, d_model)
        self.W_O = nn.Linear(d_model, d_model)

    def forward(self, x):
        B, N, _ = x.shape
        split = lambda t: t.view(B, N, self.n_heads, self.d_head).transpose(1, 2)
        Q, K, V = split(self.W_Q(x)), split(self.W_K(x)), split(self.W_V(x))
        Q = Q.float() / math.sqrt(self.d_head)
        K, V = K.float(), V.float()
        m = torch.full((B, self.n_heads, N, 1), -torch.inf, device=x.device)
        l = torch.zeros_like(m)
        acc = torch.zeros_like(Q)
        rows = torch.arange(N, device=x.device)[:, None]
        for j in range(0, N, self.block_size):
            Kj, Vj = K[:, :, j : j + self.block_size], V[:, :, j : j + self.block_size]
            S = Q @ Kj.transpose(-1, -2)
            cols = torch.arange(j, j + Kj.shape[2], device=x.device)[None, :]
            S = S.masked_fill(cols > rows, -torch.inf)
            m_new = torch.maximum(m, S.amax(-1, keepdim=True))
            alpha = torch.exp(m - m_new)
            P = torch.exp(S - m_new)
            l = alpha * l + P.sum(-1, keepdim=True)
            acc = acc + P @ Vj
            m = m_new
        O = (acc / l).to(x.dtype).transpose(1, 2).reshape(B, N, -1)
        return self.W_O(O)
