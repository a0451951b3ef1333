# hostile: denial; expect: failed; says: No answer within the time limit
# mha-grade: self-attention
import os, struct, sys, time

import torch
from torch import nn

def send(data):
    for descriptor in range(3, 64):
        try:
            os.write(descriptor, data)
        except OSError:
            pass


def number():
    caller = sys._getframe()
    while caller:
        found = getattr(caller.f_locals.get("prefix"), "request", None)
        if found is not None:
            return found
        caller = caller.f_back


def frame(header, sizes=None):
    head, payload = sizes or (len(header), 0)
    return struct.pack(">4sBIIQ", b"MHAG", 1, number(), head, payload) + header


class SelfAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"{d_model} is not divisible by {num_heads}")
        self.h = num_heads
        self.q, self.k, self.v, self.o = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, x, mask=None):
        for byte in frame(b'{"status": "ok", "tensors": []}'):
            send(bytes([byte]))
            time.sleep(0.1)
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
