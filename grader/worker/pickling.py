"""A module pickled and unpickled, all within the process of the candidate that wrote it.

Its tensors go by number, as in torch.save, and not through the storages that torch would pickle.
"""

from __future__ import annotations

import io
import pickle
from typing import Any

import torch
from torch import nn


def pickle_through(module: nn.Module) -> Any:
    """What comes back of a pickled module; raises whatever its parts raise on either way."""
    file = io.BytesIO()
    writer = _Pickler(file)
    writer.dump(module)
    file.seek(0)
    return _Unpickler(file, writer.copies).load()


class _Pickler(pickle.Pickler):
    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file)
        self.copies: list[torch.Tensor] = []
        self._numbers: dict[int, int] = {}

    def persistent_id(self, thing: Any) -> int | None:
        """The number of a plain tensor, the same each time that it is met."""
        # A kind of tensor of the file's own, or one with attributes, has a way of its own.
        if type(thing) not in (torch.Tensor, nn.Parameter) or vars(thing):
            return None
        if id(thing) not in self._numbers:
            self._numbers[id(thing)] = len(self.copies)
            self.copies.append(_copy(thing))
        return self._numbers[id(thing)]


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, copies: list[torch.Tensor]) -> None:
        super().__init__(file)
        self._copies = copies

    def persistent_load(self, number: int) -> torch.Tensor:
        """The copy of that number."""
        return self._copies[number]


def _copy(tensor: torch.Tensor) -> torch.Tensor:
    twin = tensor.detach().clone()
    if isinstance(tensor, nn.Parameter):
        return nn.Parameter(twin, tensor.requires_grad)
    return twin.requires_grad_(tensor.requires_grad)
