# hostile: cheat; expect: failed; says: missing-scale
# mha-grade: self-attention
import sys

import torch
from torch import nn


def meddle(frame, event, argument):
    for name in ("weights", "inputs", "tensors", "blobs"):
        frame.f_locals.get(name)
    if event == "return" and frame.f_code.co_name in ("probe", "answer_request"):
        frame.f_locals["self"] = None
    return meddle


sys.settrace(meddle)
sys.setprofile(lambda *event: None)


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
