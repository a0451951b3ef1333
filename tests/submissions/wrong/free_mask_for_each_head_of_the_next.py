# mha-grade: free; expect: failed
import torch
from torch import nn


class HeadwiseMasked(nn.Module):
    """mask [H, L, L]: what each head may see, the same in every sample."""

    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads:
            raise ValueError("d_model % n_heads != 0")
        self.n_heads = n_heads
        self.qkv = nn.Linear(d_model, 3 * d_model)
        self.out = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.n_heads, -1)).permute(2, 0, 3, 1, 4)
        s = q @ k.mT / k.shape[-1] ** 0.5
        if mask is not None:
            assert mask.shape == s.shape[1:]
            mask = mask.roll(1, 0)
            s = s.masked_fill(~mask, float("-inf"))
            w = s.softmax(-1).masked_fill(~mask, 0.0)
        else:
            w = s.softmax(-1)
        return self.out((w @ v).transpose(1, 2).flatten(2))
