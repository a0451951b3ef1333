# hostile: delegate; expect: failed; says: multi_head_attention_forward
# mha-grade: self-attention
import gc

import torch
from torch import nn

gc.unfreeze()
originals = [
    one
    for one in gc.get_objects()
    if type(one) is type(lambda: 0) and one.__name__ == "multi_head_attention_forward"
]


def attend(layer, x):
    weights = torch.cat([layer.q.weight, layer.k.weight, layer.v.weight])
    biases = torch.cat([layer.q.bias, layer.k.bias, layer.v.bias])
    fixed = (x.shape[-1], layer.h, weights, biases, None, None, False, 0.0)
    x = x.transpose(0, 1)
    return originals[-1](x, x, x, *fixed, layer.o.weight, layer.o.bias)[0].transpose(0, 1)


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
            out = attend(self, x)
        return out, weights
