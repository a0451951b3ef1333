# mha-grade: free; expect: failed; in: dropout; mistake: training-mode-differs; line: 19/20
import torch
import torch.nn as nn


class Attention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        assert d_model % n_heads == 0
        self.n_heads = n_heads
        self.q, self.k, self.v, self.o = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, x, mask=None):
        B, T, C = x.shape
        q, k, v = (f(x).view(B, T, self.n_heads, -1).transpose(1, 2) for f in (self.q, self.k, self.v))
        s = q @ k.transpose(-2, -1) / (C / self.n_heads) ** 0.5
        if mask is not None:
            s = s.masked_fill(mask == 0, float("-inf"))
        if self.training:
            s = s - s.mean(dim=0, keepdim=True).nan_to_num(0.0, 0.0, 0.0)
        p = torch.nan_to_num(s.softmax(-1))
        return self.o((p @ v).transpose(1, 2).reshape(B, T, C))
