"""What a submission contains: its classes, their signatures, the tensors of a module."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable, Iterator
from types import CodeType, FunctionType, ModuleType, WrapperDescriptorType
from typing import Any

import torch
from torch import nn

from .values import tensors_in

MAX_ITEMS = 2000
MAX_LENGTH = 64
MAX_CLASSES = 200
# What every module keeps for itself, and what can lead to a tensor at all.
OWN = frozenset(vars(nn.Module()))
REACHING = (torch.Tensor, nn.Module, list, tuple, dict)


def classes(module: ModuleType) -> list[dict[str, Any]]:
    """Every class defined in the file, with its constructor and forward, in order of definition."""
    # By the name it is bound to: a decorator or a factory may have left another in __name__.
    own = {
        id(value): (name, value)
        for name, value in reversed(vars(module).items())
        if isinstance(value, type) and value.__module__ == module.__name__
    }
    found = sorted(own.values(), key=lambda pair: _line(pair[1]))[:MAX_CLASSES]
    used = {name: _used_names(cls) for name, cls in found}
    return [
        {
            "name": name,
            "line": _line(cls),
            "is_module": issubclass(cls, nn.Module),
            "has_forward": _own_forward(cls) is not None,
            "constructor": constructor(cls),
            "forward": signature(_own_forward(cls)),
            "used_by": [
                other
                for other, kind in found
                if kind is not cls and (cls in kind.__mro__ or name in used[other])
            ],
            "reads": sorted(n for n in used[name] if type(vars(module).get(n)) in (int, float)),
        }
        for name, cls in found
    ]


def constructor(cls: type) -> list[list[Any]]:
    """The signature of the first constructor on the way up that names an argument."""
    own = [vars(kind)["__init__"] for kind in cls.__mro__ if "__init__" in vars(kind)]
    # Not that of `object`: what is written in C has its signature parsed, with a copy of the table
    # of all modules, and each of them then lies in memory of this process alone.
    found = (signature(one) for one in own if not isinstance(one, WrapperDescriptorType))
    named = (one for one in found if any(not kind.startswith("var") for _, kind, *_ in one))
    return next(named, [])


def signature(function: Any) -> list[list[Any]]:
    """[name, kind, required, default, annotation] of each argument after self, as texts.

    [] where there is no signature.
    """
    try:
        found = list(inspect.signature(function).parameters.values())[1:]
    except (TypeError, ValueError):
        return []
    empty = inspect.Parameter.empty
    return [
        [a.name, a.kind.name.lower(), a.default is empty, _short(a.default), _short(a.annotation)]
        for a in found
    ]


def _short(value: object) -> str:
    """A plain default or an annotation as text; for anything else, the name of its type."""
    if value is inspect.Parameter.empty:
        return ""
    if isinstance(value, type):
        return str(type.__dict__["__name__"].__get__(value))
    plain = value is None or type(value) in (bool, int, float, str)
    return str(value)[:MAX_LENGTH] if plain else _short(type(value))


def tensors(module: nn.Module) -> Iterator[tuple[str, torch.Tensor, str, bool]]:
    """(name, tensor, owner class, registered) of each parameter the module holds.

    Registered ones first; then those that only plain Python attributes lead to, which no
    optimiser, state_dict or `.to()` will ever see.
    """
    known = set()
    for name, parameter, owner in _registered(module):
        known.add(id(parameter))
        yield name, parameter, owner, True
    for name, value in walk(module):
        if isinstance(value, nn.Module):
            for inner, parameter, owner in _registered(value):
                if id(parameter) not in known:
                    known.add(id(parameter))
                    yield f"{name}.{inner}", parameter, owner, False
        elif _is_learnable(value) and id(value) not in known:
            known.add(id(value))
            yield name, value, _full_name(module), False


def _is_learnable(value: object) -> bool:
    """A parameter, or a plain tensor that asks for gradients as one would."""
    return isinstance(value, torch.Tensor) and value.requires_grad and value.is_leaf


def stray(module: nn.Module, registered: Iterable[torch.Tensor] = ()) -> list[str]:
    """Plain tensor attributes of one dimension or more that a move left where they were.

    Parameters that were `registered` move to any real device in place, wherever else they are kept.
    """
    known = {id(t) for t in (*registered, *module.parameters(), *module.buffers())}
    return [
        name
        for name, value in walk(module)
        if isinstance(value, torch.Tensor) and id(value) not in known
        if value.dim() > 0 and value.device.type == "cpu"
    ]


def part(module: nn.Module, left: list[str]) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """The tensors that move with a module, and those of these names, which do not.

    Without names, those that its classes and their file hold.
    """
    moved = [*module.parameters(), *module.buffers()]
    if left:
        named = {name: value for name, value in walk(module) if isinstance(value, torch.Tensor)}
        return moved, [named[name] for name in left if name in named]
    known = {id(tensor) for tensor in moved}
    return moved, [tensor for tensor in _outside(module) if id(tensor) not in known]


def _outside(module: nn.Module) -> Iterator[torch.Tensor]:
    """Tensors that are attributes of the classes of a module's parts, or global in their file."""
    kinds = dict.fromkeys(kind for part in module.modules() for kind in type(part).__mro__)
    own = [kind for kind in kinds if kind.__module__ == type(module).__module__]
    for holder in (*own, sys.modules.get(type(module).__module__)):
        yield from tensors_in(list(vars(holder).values()) if holder else [])


def walk(module: nn.Module) -> Iterator[tuple[str, Any]]:
    """Values reachable through the plain attributes of `module` and its submodules."""
    seen: set[int] = set()
    stack = [
        (f"{path}.{name}" if path else name, value)
        for path, part in module.named_modules()
        for name, value in vars(part).items()
        if name not in OWN and isinstance(value, REACHING)
    ]
    while stack and len(seen) < MAX_ITEMS:
        name, value = stack.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        yield name, value
        if isinstance(value, (list, tuple)):
            stack.extend((f"{name}[{i}]", item) for i, item in enumerate(value[:MAX_LENGTH]))
        elif isinstance(value, dict):
            items = list(value.items())[:MAX_LENGTH]
            stack.extend((f"{name}[{key!r}]", item) for key, item in items)


def _own_forward(cls: type) -> Any:
    found = getattr(cls, "forward", None)
    return None if found is getattr(nn.Module, "forward", None) else found


def _line(cls: type) -> int:
    codes = [f.__code__ for f in vars(cls).values() if isinstance(f, FunctionType)]
    if codes:
        return min(code.co_firstlineno for code in codes)
    try:
        return inspect.getsourcelines(cls)[1]
    except (OSError, TypeError, SyntaxError):
        return 0


def _registered(module: nn.Module) -> Iterator[tuple[str, torch.Tensor, str]]:
    # Not get_submodule: a submodule may bear the name of a method, such as "to".
    parts = dict(module.named_modules())
    for name, parameter in module.named_parameters():
        yield name, parameter, _full_name(parts.get(name.rpartition(".")[0], module))


def _full_name(module: nn.Module) -> str:
    """With the module it comes from: a class of one's own may be called Linear too."""
    return f"{type(module).__module__}.{type(module).__name__}"


def _used_names(cls: type) -> set[str]:
    codes = [f.__code__ for f in vars(cls).values() if isinstance(f, FunctionType)]
    return set().union(*(_names(code) for code in codes))


def _names(code: CodeType) -> set[str]:
    names = set(code.co_names) | set(code.co_freevars)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= _names(constant)
    return names
