# mha-grade: free; expect: failed; in: scaling; mistake: scale-by-sqrt-d-model; line: 21
import torch
import torch.nn as nn


class TiedKV(nn.Module):
    """One projection makes keys and values, as in Reformer's shared-QK family (here K = V)."""

    def __init__(self, dim, num_heads):
        super().__init__()
        assert dim % num_heads == 0
        self.num_heads = num_heads
        self.q = nn.Linear(dim, dim)
        self.kv = nn.Linear(dim, dim)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x, mask=None):
        B, L, D = x.shape
        q = self.q(x).reshape(B, L, self.num_heads, -1).transpose(1, 2)
        k = v = self.kv(x).reshape(B, L, self.num_heads, -1).transpose(1, 2)
        s = (q @ k.transpose(-2, -1)) / D ** 0.5
        if mask is not None:
            s = s.masked_fill(~mask, float("-inf"))
        a = s.softmax(-1).nan_to_num(0.0)
        return self.proj((a @ v).transpose(1, 2).reshape(B, L, D))
