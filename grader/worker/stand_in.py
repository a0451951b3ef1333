"""What stands in for a candidate's own configuration: objects, numbers of the file, norms."""

from __future__ import annotations

import contextlib
import inspect
import re
from types import ModuleType
from typing import Any

import torch
from torch import nn

ASKED: set[str] = set()


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
    ASKED.add(name[:80])
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
        return Settings(described["settings"])
    return _fill(getattr(module, described["class"]), described["settings"])


def _fill(kind: Any, settings: list[list[Any]]) -> Any:
    """The candidate's own configuration class, by its constructor or else by its attributes."""
    values = [(re.compile(pattern), value) for pattern, value in settings]
    named = {}
    for name, argument in inspect.signature(kind).parameters.items():
        with contextlib.suppress(KeyError):
            named[name] = look_up(values, name)
        if named.get(name, 0) is None and argument.default is not inspect.Parameter.empty:
            del named[name]
    made = kind(**named)
    if not named:
        for name in [n for n in dir(made) if not n.startswith("_")]:
            with contextlib.suppress(KeyError, AttributeError):
                setattr(made, name, look_up(values, name))
    return made


def quiet_norms(module: nn.Module) -> None:
    """Make each layer norm that the module holds return what it is given."""
    for part in module.modules():
        if normal(type(part).__name__) in ("layer_norm", "layernorm"):
            part.forward = _unchanged


def _unchanged(x: torch.Tensor) -> torch.Tensor:
    return x
