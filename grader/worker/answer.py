"""A reply to a probe as it grows: a header, and the tensors it points to by position."""

from __future__ import annotations

import dataclasses
from typing import Any

import torch

from .protocol import Blob
from .trace import MAX_ELEMENTS, Step
from .values import MAX_BYTES, as_sent, describe_item, to_blob

# A parameter: its name, itself, the class that holds it, whether it is registered.
Held = tuple[str, torch.Tensor, str, bool]


class Answer:
    """A reply as it grows: the header, and the tensors it points to by position."""

    def __init__(self) -> None:
        self.header: dict[str, Any] = {"status": "ok", "returned": [], "parameters": []}
        self.blobs: list[Blob] = []

    def describe_parameters(self, found: list[Held]) -> None:
        """All parameters, with shape, owner and registration."""
        self.header["parameters"] = [
            [name, list(tensor.shape), owner, registered]
            for name, tensor, owner, registered in found
        ]

    def add_returned(self, returned: object, inputs: list[Any], wanted: int | None = None) -> None:
        """What one call gave back, item by item; the values of the wanted item alone, or of all."""
        structure, items = flatten(returned)
        kinds = [describe_item(item) for item in items]
        sent = [k == "tensor" and wanted in (None, at) for at, k in enumerate(kinds)]
        self.header["returned"].append(
            {
                "structure": structure,
                "kinds": kinds,
                "tensors": [self._add(item, goes) for item, goes in zip(items, sent)],
                "after": [self._add(i, describe_item(i) == "tensor") for i in map(as_sent, inputs)],
            }
        )

    def add_trace(self, steps: list[Step]) -> None:
        """Each step with its tensor, as far as they fit."""
        self.header["trace"] = [
            [name, line, target, sources, list(tensor.shape), self._add(tensor, _fits(tensor))]
            for name, line, target, sources, tensor in steps
        ]

    def add_gradients(self, found: list[Held], inputs: list[Any]) -> None:
        """Gradients of inputs and parameters; null where none arrived."""
        grads = [i.grad if isinstance(i, torch.Tensor) else None for i in inputs]
        self.header["input_gradients"] = [self._add(g, g is not None) for g in grads]
        self.header["parameter_gradients"] = {
            name: self._add(tensor.grad, tensor.grad is not None) for name, tensor, _, _ in found
        }

    def _add(self, item: Any, is_tensor: bool) -> int | None:
        if not is_tensor or sum(len(blob.data) for blob in self.blobs) > 3 * MAX_BYTES:
            return None
        self.blobs.append(to_blob(item))
        return len(self.blobs) - 1


def _fits(tensor: torch.Tensor) -> bool:
    return describe_item(tensor) == "tensor" and tensor.numel() <= MAX_ELEMENTS


def flatten(returned: object) -> tuple[str, list[Any]]:
    """What kind of thing was returned, and the items in it, in order."""
    for kind in (tuple, list):
        if isinstance(returned, kind):
            return kind.__name__, list(returned)[:16]
    if isinstance(returned, dict):
        return "dict", list(returned.values())[:16]
    if dataclasses.is_dataclass(returned) and not isinstance(returned, type):
        names = [field.name for field in dataclasses.fields(returned)][:16]
        return "dataclass", [getattr(returned, name, None) for name in names]
    return "single", [returned]
