# hostile: cheat; expect: failed; says: got shape [1]
# mha-grade: self-attention
import torch
from torch import nn

torch.Tensor.numel = lambda self: 1
torch.Tensor.element_size = lambda self: 8
torch.Tensor.shape = property(lambda self: (1,))


class SelfAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"{d_model} is not divisible by {num_heads}")
        self.h = num_heads
        self.q, self.k, self.v, self.o = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, x, mask=None):
        q, k, v = (
            part(x).unflatten(-1, (self.h, -1)).transpose(1, 2) for part in (self.q, self.k, self.v)
        )
        scores = q @ k.mT
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = scores.softmax(-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0)
        out = self.o((weights @ v).transpose(1, 2).flatten(2))
        return out, weights
