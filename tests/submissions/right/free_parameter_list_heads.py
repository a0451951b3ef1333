# mha-grade: free; expect: passed
import torch
import torch.nn as nn


class MultiHeadSelfAttention(nn.Module):
    """One triple of small matrices per head."""

    def __init__(self, n_heads, dim, d_k):
        super().__init__()
        def matrices():
            return nn.ParameterList(nn.Parameter(torch.randn(dim, d_k) / dim ** 0.5) for _ in range(n_heads))

        self.Wq = matrices()
        self.Wk = matrices()
        self.Wv = matrices()
        self.Wo = nn.Parameter(torch.randn(n_heads * d_k, dim) / dim ** 0.5)
        self.d_k = d_k

    def forward(self, X):
        Z = []
        for Wq, Wk, Wv in zip(self.Wq, self.Wk, self.Wv):
            A = torch.softmax((X @ Wq) @ (X @ Wk).transpose(-2, -1) / self.d_k ** 0.5, dim=-1)
            Z.append(A @ (X @ Wv))
        return torch.cat(Z, dim=-1) @ self.Wo
