"""A call as if the module were on another device than the plain tensors that it keeps.

On a GPU a tensor that is neither parameter nor buffer stays on the CPU when the module moves, and
the first operation that joins the two raises. Here there is one device: which tensors would be on
the other is followed instead. torch's own stand-in, the device "meta", takes a second of imports
for its first product.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

# What a tensor that was moved says of its device; code may compare it, or hand it on.
ELSEWHERE = torch.device("meta")
HERE = torch.device("cpu")
# Take a device, or a tensor to be like; and what may be given tensors of two devices.
MOVES = {"to", "type_as", "cuda", "cpu"}
JOINS = {"copy_", "__getitem__", "__setitem__"}
SAID = "Expected all tensors to be on the same device, but found at least two devices"


class Apart(TorchFunctionMode):  # type: ignore[misc]  # torch is not looked at
    """Follows which tensors are made of moved ones, and which of those `left` behind.

    An operation on both raises RuntimeError, as on a GPU; a `left` one without dimensions may be
    joined with any. Of a tensor that comes from neither nothing is said.
    """

    def __init__(self, moved: Iterable[torch.Tensor], left: Iterable[torch.Tensor]) -> None:
        super().__init__()
        # Kept alive, so that no later tensor can have the identity of an earlier one.
        self._moved = {id(tensor): tensor for tensor in moved}
        self._left = {id(tensor): tensor for tensor in left}

    def begin(self, inputs: Iterable[Any]) -> None:
        """The inputs of a call are where the module is."""
        self._moved.update((id(i), i) for i in inputs if isinstance(i, torch.Tensor))

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Do what was asked unless it joins two devices; then place what it made."""
        named = dict(kwargs or {})
        if getattr(func, "__self__", None) is torch.Tensor.device:
            return ELSEWHERE if id(args[0]) in self._moved else HERE
        given = [*args, *named.values()]
        name = getattr(func, "__name__", "")
        operands = list(_tensors(given))
        is_moved = any(id(operand) in self._moved for operand in operands)
        is_left = any(id(operand) in self._left for operand in operands)
        if is_moved and self._joins(name, operands):
            raise RuntimeError(SAID)
        result = func(*map(_real, args), **{key: _real(value) for key, value in named.items()})
        if name in MOVES or any(isinstance(value, torch.device) for value in given):
            is_moved, is_left = self._goes(name, given)
            if operands and result is operands[0]:
                # It is here already; over there it would be another tensor than the one moved.
                result = result.view_as(result)
        elif name in JOINS:
            is_moved = id(operands[0]) in self._moved
        if is_moved or is_left:
            self._place(result, is_moved)
        return result

    def _joins(self, name: str, operands: list[torch.Tensor]) -> bool:
        """True for an operation on moved tensors that cannot be given what was left behind."""
        # A tensor on a GPU may be indexed with one of the CPU, and not the other way round.
        asked = operands[:1] if name == "__getitem__" else operands
        is_free = name in MOVES or (name in JOINS and name != "__getitem__")
        return not is_free and any(id(one) in self._left and one.dim() > 0 for one in asked)

    def _goes(self, name: str, given: list[Any]) -> tuple[bool, bool]:
        """Where a tensor is after a move, or one that is made on a device: (moved, left)."""
        devices = [value for value in given if isinstance(value, torch.device)]
        if ELSEWHERE in devices or name == "cuda":
            return True, False
        if devices or name == "cpu" or any(value == "cpu" for value in given if _is_word(value)):
            return False, True
        # Like another tensor, or of another dtype where it is.
        like = [id(value) for value in given if isinstance(value, torch.Tensor)][-1]
        return like in self._moved, like in self._left

    def _place(self, result: Any, is_moved: bool) -> None:
        for tensor in _tensors([result]):
            (self._moved if is_moved else self._left)[id(tensor)] = tensor
            (self._left if is_moved else self._moved).pop(id(tensor), None)


def _real(value: Any) -> Any:
    """The one device there is in place of the other one."""
    return HERE if isinstance(value, torch.device) and value == ELSEWHERE else value


def _is_word(value: Any) -> bool:
    return isinstance(value, str)


def _tensors(values: Iterable[Any], depth: int = 2) -> Iterator[torch.Tensor]:
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif depth and isinstance(value, (tuple, list)):
            yield from _tensors(value[:64], depth - 1)
