"""What stands in for a candidate's own configuration: objects, numbers of the file, norms."""

from __future__ import annotations

import contextlib
import inspect
import re
import sys
import typing
from types import ModuleType
from typing import Any

import torch
from torch import nn

# Names that the candidate's code read from its settings.
ASKED: set[str] = set()
NORM = re.compile(r"(layer|rms)_?norm")
# For what a settings class demands besides, and attention has no use for.
PLAIN = {"int": 64, "float": 0.0, "bool": False, "str": ""}


class Settings:
    """Gives the value of the first pattern that matches a name: as attribute, item or by `get`."""

    def __init__(self, values: list[list[Any]]) -> None:
        self.__dict__["_values"] = [(re.compile(pattern), value) for pattern, value in values]

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"the settings have no {name}") from None

    def __getitem__(self, name: str) -> Any:
        ASKED.add(name[:80])
        return look_up(self.__dict__["_values"], name)

    def get(self, name: str, default: Any = None) -> Any:
        """The value under `name`, or `default`."""
        try:
            return self[name]
        except KeyError:
            return default

    def __contains__(self, name: str) -> bool:
        return any(pattern.fullmatch(normal(name)) for pattern, _ in self.__dict__["_values"])


def look_up(values: list[tuple[re.Pattern[str], Any]], name: str) -> Any:
    """The value of the first pattern that matches; KeyError where none does."""
    for pattern, value in values:
        if pattern.fullmatch(normal(name)):
            return value
    raise KeyError(name)


def normal(name: str) -> str:
    """A name in small letters, its words apart: numHeads -> num_heads."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower().strip("_")


def value_of(described: Any, module: ModuleType) -> Any:
    """A constructor's argument as the request describes it."""
    if not isinstance(described, dict):
        return described
    if described["class"] is None:
        module.__dict__.setdefault("hasattr", _has)
        return Settings(described["settings"])
    return _fill(getattr(module, described["class"]), described["settings"])


def _has(thing: object, name: str) -> bool:
    """The file's own `hasattr`: settings have what the function that asks goes on to read.

    Some only ask whether a name is there, and take it for a sign of another kind of model.
    """
    if isinstance(thing, Settings):
        return name in sys._getframe(1).f_code.co_names and name in thing
    return hasattr(thing, name)


def _demands(kind: Any) -> list[tuple[str, Any, bool]]:
    """What a settings class takes: (name, annotation, whether it must be given)."""
    if typing.is_typeddict(kind):
        return [
            (name, getattr(noted, "__forward_arg__", noted), name in kind.__required_keys__)
            for name, noted in kind.__annotations__.items()
        ]
    found = inspect.signature(kind).parameters.values()
    return [(a.name, a.annotation, a.default is inspect.Parameter.empty) for a in found]


def _fill(kind: Any, settings: list[list[Any]]) -> Any:
    """The candidate's own configuration class, by its constructor or else by its attributes."""
    values = [(re.compile(pattern), value) for pattern, value in settings]
    named = {}
    for name, annotation, required in _demands(kind):
        plain = getattr(annotation, "__name__", annotation)
        with contextlib.suppress(KeyError):
            named[name] = look_up(values, name)
        if required and name not in named and plain in PLAIN:
            named[name] = PLAIN[plain]
        if named.get(name, 0) is None and not required:
            del named[name]
    made = kind(**named)
    if type(made) is dict:
        return _Items(made)
    if not named:
        for name in [n for n in dir(made) if not n.startswith("_")]:
            with contextlib.suppress(KeyError, AttributeError):
                setattr(made, name, look_up(values, name))
                named[name] = None
    if not _watch(made):
        ASKED.update(named)
    return made


class _Items(dict[str, Any]):
    """A dictionary that notes which of its names are read."""

    def __getitem__(self, name: str) -> Any:
        ASKED.add(name[:80])
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        """The value under `name`, or `default`."""
        ASKED.add(name[:80])
        return super().get(name, default)


def _make(kind: Any, *arguments: Any) -> Any:
    """As copyreg does, whose own way pickle allows to no other class than that of the object."""
    return kind.__new__(kind, *arguments)


def _watch(made: Any) -> bool:
    """Note what is read from an object from now on; False where its class does not allow it."""
    kind: Any = type(made)

    def read(self: Any, name: str) -> Any:
        ASKED.add(name[:80])
        return kind.__getattribute__(self, name)

    def reduce(self: Any, protocol: int) -> Any:
        # A copy, pickled or not, is of the file's own class, which can be found by its name.
        object.__setattr__(self, "__class__", kind)
        try:
            make, *rest = kind.__reduce_ex__(self, protocol)
        finally:
            object.__setattr__(self, "__class__", watched)
        return _make if make.__name__ == "__newobj__" else make, *rest

    added = {"__slots__": (), "__getattribute__": read, "__reduce_ex__": reduce}
    try:
        # Of the same name and layout, so that only who looks for it sees the difference.
        watched = type(kind)(kind.__name__, (kind,), added)
        object.__setattr__(made, "__class__", watched)
    except Exception:
        return False
    return True


def clear(found: list[tuple[str, torch.Tensor, str, bool]], names: list[str]) -> None:
    """Set the parameters of these names to 0."""
    for name, parameter, _, _ in found:
        if name in names:
            parameter.data.zero_()


def quiet_norms(module: nn.Module) -> None:
    """Make each layer norm that the module holds return what it is given."""
    for part in module.modules():
        if NORM.fullmatch(normal(type(part).__name__)):
            part.forward = _unchanged


def _unchanged(x: torch.Tensor) -> torch.Tensor:
    return x
