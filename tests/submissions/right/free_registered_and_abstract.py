# mha-grade: free; expect: passed
from abc import ABC, abstractmethod

import torch
from torch import nn

REGISTRY = {}


def register(name):
    def wrap(cls):
        REGISTRY[name] = cls
        return cls

    return wrap


class AttentionBase(nn.Module, ABC):
    """The frame: projections here, the attention itself in a subclass."""

    def __init__(self, emb_dim, head_count):
        super().__init__()
        if emb_dim % head_count != 0:
            raise ValueError("emb_dim must be divisible by head_count")
        self.head_count = head_count
        for name in ("q", "k", "v", "o"):
            setattr(self, f"proj_{name}", nn.Linear(emb_dim, emb_dim))

    def forward(self, query, key, value, mask=None):
        q, k, v = self.heads(self.proj_q(query)), self.heads(self.proj_k(key)), self.heads(self.proj_v(value))
        mixed = self.attend(q, k, v, mask)
        return self.proj_o(mixed.transpose(1, 2).reshape(query.shape))

    def heads(self, x):
        return x.view(x.shape[0], x.shape[1], self.head_count, -1).transpose(1, 2)

    @abstractmethod
    def attend(self, q, k, v, mask): ...


@register("dot")
class DotAttention(AttentionBase):
    def attend(self, q, k, v, mask):
        energy = torch.einsum("...qd,...kd->...qk", q, k) / q.shape[-1] ** 0.5
        if mask is None:
            return energy.softmax(-1) @ v
        floor = torch.finfo(energy.dtype).min
        weights = energy.masked_fill(mask.eq(0), floor).softmax(-1).masked_fill(mask.eq(0), 0)
        return weights @ v
