# mha-grade: free; expect: failed; in: scaling; mistake: scale-by-sqrt-d-model
import torch
from torch import nn


class MultiHead(nn.Module):
    """Built from the number of heads and the size of each: the width follows."""

    def __init__(self, h, d_k):
        super().__init__()
        self.h, self.d_k = h, d_k
        width = h * d_k
        self.WQ, self.WK, self.WV, self.WO = (nn.Parameter(torch.randn(width, width) / width**0.5) for _ in range(4))

    def forward(self, Q, K, V):
        cut = lambda X: torch.stack(X.split(self.d_k, dim=-1), dim=1)
        Q, K, V = cut(Q @ self.WQ), cut(K @ self.WK), cut(V @ self.WV)
        A = torch.softmax(Q @ K.transpose(-2, -1) / (self.h * self.d_k) ** 0.5, dim=-1)
        return torch.cat((A @ V).unbind(1), dim=-1) @ self.WO
