# mha-grade: free; expect: passed
from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Final, Generic, Protocol, TypeVar

import torch
from torch import Tensor, nn

M = TypeVar("M", bound=nn.Module)
Heads = Annotated[Tensor, "batch heads length size"]


class Normaliser(Protocol):
    def __call__(self, scores: Heads) -> Heads: ...


def over_keys(scores: Heads) -> Heads:
    return torch.softmax(scores, dim=-1)


class Wrapped(nn.Module, Generic[M]):
    def __init__(self, inner: M) -> None:
        super().__init__()
        self.inner: Final[M] = inner

    def forward(self, x: Tensor) -> Tensor:
        return self.inner(x)


class TypedAttention(nn.Module):
    normalise: Callable[[Heads], Heads] | Normaliser = staticmethod(over_keys)

    def __init__(self, *, model_dim: int, num_heads: int, bias: bool = True) -> None:
        super().__init__()
        if model_dim % num_heads:
            raise ValueError(f"{model_dim=} is not a multiple of {num_heads=}")
        self.num_heads: Final[int] = num_heads
        self.queries: Wrapped[nn.Linear] = Wrapped(nn.Linear(model_dim, model_dim, bias=bias))
        self.keys: Wrapped[nn.Linear] = Wrapped(nn.Linear(model_dim, model_dim, bias=bias))
        self.values: Wrapped[nn.Linear] = Wrapped(nn.Linear(model_dim, model_dim, bias=bias))
        self.output: Wrapped[nn.Linear] = Wrapped(nn.Linear(model_dim, model_dim, bias=bias))

    def forward(self, query: Tensor, memory: Tensor | None = None) -> Tensor:
        source = query if memory is None else memory
        q, k, v = self._apart(self.queries(query)), self._apart(self.keys(source)), self._apart(self.values(source))
        weights = self.normalise(q @ k.transpose(-2, -1) / q.size(-1) ** 0.5)
        return self.output((weights @ v).transpose(1, 2).flatten(start_dim=2))

    def _apart(self, x: Tensor) -> Heads:
        return x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
