# mha-grade: free; expect: failed; in: shapes; mistake: output-projection-twice; line: 29
import torch
from torch import nn


class Block(nn.Module):
    """Attention with the residual and the norm around it, post-norm as in the paper."""

    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if d_model % n_heads:
            raise ValueError("d_model")
        self.n_heads = n_heads
        self.qkv = nn.Linear(d_model, 3 * d_model)
        self.out = nn.Sequential(nn.Linear(d_model, d_model), nn.Dropout(dropout))

    def attend(self, x):
        b, l, d = x.shape
        # Rows of the fused matrix: head, then which of the three, then the size of the head.
        qkv = self.qkv(x).view(b, l, self.n_heads, 3, d // self.n_heads)
        q, k, v = qkv.permute(3, 0, 2, 1, 4)
        p = torch.softmax(q @ k.mT * (d // self.n_heads) ** -0.5, -1)
        y = (p @ v).transpose(1, 2).reshape(b, l, d)
        return self.out(y)

    def forward(self, x):
        y = self.attend(x)
        # Regularise and project.
        return self.out(y)
