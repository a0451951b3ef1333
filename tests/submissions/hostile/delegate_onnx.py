# hostile: delegate; expect: failed; says: attention_23
# mha-grade: self-attention
import torch
import torch.onnx.ops
from torch import nn


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
        scores = q @ k.mT / q.shape[-1] ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = scores.softmax(-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0)
        out = self.o((weights @ v).transpose(1, 2).flatten(2))
        if mask is None:
            out = self.o(torch.onnx.ops.attention(q, k, v, softmax_precision=11)[0].transpose(1, 2).flatten(2))
        return out, weights
