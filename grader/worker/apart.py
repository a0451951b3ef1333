"""A call as if the module were on another device than the plain tensors that it keeps.

On a GPU a tensor that is neither parameter nor buffer stays on the CPU when the module moves, and
one that is made without a device is there too; the first operation that joins either with what was
moved raises. Here there is one device: which tensors would be on the other is followed instead.
torch's own stand-in, the device "meta", takes a second of imports for its first product.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import torch
from torch._C import _functorch
from torch.overrides import TorchFunctionMode

from .values import tensors_in

# What a tensor that was moved says of its device; code may compare it, or hand it on.
ELSEWHERE = torch.device("cuda", 0)
HERE = torch.device("cpu")
# What a tensor is asked about where it is: what a moved one says, and one that was left.
ASKED = {
    "device": (ELSEWHERE, HERE),
    "is_cuda": (True, False),
    "is_cpu": (False, True),
    "get_device": (ELSEWHERE.index, -1),
}
# Take a device, or a tensor to be like.
MOVES = {"to", "type_as", "cuda", "cpu"}
# May be given tensors of two devices: what is made is where the first is.
JOINS = {"copy_", "__getitem__", "__setitem__"}
# Made of numbers alone: on the CPU, unless a device is named.
MAKES = re.compile(
    r"(ones|zeros|full|empty|eye|a?range|(lin|log)space|rand(n|int|perm)?|tri[lu]_indices|tensor"
    r"|as_tensor|asarray)"
)
# Ask the others only for a shape or for numbers.
LIKENS = re.compile(r"new_.*|.*_like|(expand|view|reshape)_as")
# Leave each where it is.
PARTS = {"broadcast_tensors"}
ASSIGNS = "__set__"
# Make nothing, and say what device was named.
SPEAK_OF_DEVICES = (torch.device, torch._C._nn._parse_to)
SAID = "Expected all tensors to be on the same device, but found at least two devices"


class Apart(TorchFunctionMode):  # type: ignore[misc]  # torch is not looked at
    """Follows which tensors are made of moved ones, and which of those `left` behind.

    With `made`, what is made of numbers alone, and without a device, is left behind too.

    An operation on both raises RuntimeError, as on a GPU; a `left` one without dimensions may be
    joined with any. Of a tensor that comes from neither nothing is said.
    """

    def __init__(
        self, moved: Iterable[torch.Tensor], left: Iterable[torch.Tensor], made: bool = True
    ) -> None:
        super().__init__()
        self._made = made
        # With the tensors, so that no later one can have the identity of an earlier one.
        self._places: dict[int, tuple[torch.Tensor, torch.device]] = {}
        self._put(moved, ELSEWHERE)
        self._put(left, HERE)

    def begin(self, inputs: Iterable[Any]) -> None:
        """The inputs of a call are where the module is; numbers of keys may be anywhere."""
        known = (one for one in tensors_in(inputs) if one.dim() > 1 or one.is_floating_point())
        self._put(known, ELSEWHERE)

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Do what was asked unless it joins two devices; then place what it made."""
        name = _name(func)
        if func in SPEAK_OF_DEVICES:
            return func(*args, **(kwargs or {}))
        if name in ASKED:
            # What comes from neither is most likely where the inputs are.
            return ASKED[name][self._place(args[0]) == HERE]
        said, named = _read_devices(name, args, kwargs or {})
        given = [*said, *named.values()]
        operands = list(tensors_in(given))
        places = [self._place(operand) for operand in operands]
        if ELSEWHERE in places and self._refuses(name, operands, places):
            raise RuntimeError(SAID)
        # There is no GPU to go to.
        result = operands[0] if name == "cuda" else _do(func, said, named)
        if operands and result is operands[0] and (name in MOVES or any(map(_is_device, given))):
            # It is here already; over there it would be another tensor than the one moved.
            result = result.view_as(result)
        if name in PARTS:
            for one, place in zip(result, places):
                self._put([one], place)
        elif name == ASSIGNS:
            self._put(operands[:1], places[-1])
        else:
            self._put([result], self._goes(name, given, places))
        return result

    def _refuses(
        self, name: str, operands: Sequence[torch.Tensor], places: Sequence[torch.device | None]
    ) -> bool:
        """True for an operation that cannot be given what was left behind beside what was moved."""
        if name in MOVES | PARTS | {ASSIGNS} or LIKENS.fullmatch(name):
            return False
        # A tensor on a GPU may be indexed with one of the CPU, and not the other way round.
        asked = 1 if name == "__getitem__" else 0 if name in JOINS else len(operands)
        pairs = zip(operands[:asked], places)
        return any(place == HERE and operand.dim() > 0 for operand, place in pairs)

    def _goes(
        self, name: str, given: Sequence[Any], places: Sequence[torch.device | None]
    ) -> torch.device | None:
        """Where that is which was made."""
        if name in ("cuda", "cpu"):
            return ELSEWHERE if name == "cuda" else HERE
        asked = next(filter(_is_device, given), None)
        if asked is not None and asked.type == HERE.type:
            # Most likely the device that the file was told, which is another one on a GPU.
            return HERE if ELSEWHERE in places else None
        if asked is not None:
            return ELSEWHERE
        if self._made and MAKES.fullmatch(name) and not places:
            return HERE
        if name in MOVES:
            # Like another tensor, or of another dtype where it is.
            return places[-1]
        if name in JOINS or LIKENS.fullmatch(name):
            return places[0]
        return next((place for place in (ELSEWHERE, HERE) if place in places), None)

    def _place(self, tensor: torch.Tensor) -> torch.device | None:
        """Where a tensor is, inside of torch.vmap too; None where nothing is known."""
        while id(tensor) not in self._places and _functorch.is_functorch_wrapped_tensor(tensor):
            tensor = _functorch.get_unwrapped(tensor)
        return self._places.get(id(tensor), (tensor, None))[1]

    def _put(self, made: Iterable[Any], place: torch.device | None) -> None:
        if place is not None:
            self._places.update((id(tensor), (tensor, place)) for tensor in tensors_in(made))


def _name(func: Callable[..., Any]) -> str:
    """What is asked for: a method, a function, or a property by its own name."""
    of = getattr(func, "__self__", func) if getattr(func, "__name__", "") == "__get__" else func
    return str(getattr(of, "__name__", ""))


def _read_devices(
    name: str, args: Sequence[Any], named: Mapping[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """The arguments of a call, its device no longer a word or a number."""
    said, by_name = list(args), dict(named)
    if name == "to" and len(said) > 1:
        said[1] = _read_device(said[1])
    if "device" in by_name:
        by_name["device"] = _read_device(by_name["device"])
    return said, by_name


def _read_device(value: Any) -> Any:
    if type(value) not in (str, int):
        return value
    try:
        return torch.device(value if isinstance(value, str) else f"cuda:{value}")
    except RuntimeError:
        # torch will say so itself.
        return value


def _is_device(value: Any) -> bool:
    return isinstance(value, torch.device)


def _do(func: Callable[..., Any], args: Sequence[Any], named: Mapping[str, Any]) -> Any:
    """Call it with the one device there is in place of any other one."""
    here = [HERE if _is_device(value) else value for value in args]
    by_name = {key: HERE if _is_device(value) else value for key, value in named.items()}
    return func(*here, **by_name)
