"""Modules that have been built, and the weights that have been sent for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from .answer import Held
from .protocol import MAX_SETS, NO_WEIGHTS

# Modules held for further probes: each may have large tables of its own.
KEPT = 8

Tensors = dict[str, torch.Tensor]


@dataclass
class Built:
    """A candidate's module, its parameters, and what its constructor had put into them."""

    module: torch.nn.Module
    found: list[Held]
    drawn: list[torch.Tensor]
    # The number of the weights that it has now.
    loaded: int | None = None
    # The names of the parameters that have them.
    sent: frozenset[str] = frozenset()

    def load(self, number: int, weights: Tensors) -> None:
        """Put these weights into the parameters, and back what was drawn for all others.

        Left out where they are there already: what a file does to its own weights stays done.
        """
        for _, parameter, _, _ in self.found:
            parameter.grad = None
        if number == self.loaded:
            return
        self.loaded, self.sent = number, frozenset(weights)
        with torch.no_grad():
            for (name, parameter, _, registered), drawn in zip(self.found, self.drawn):
                if name in weights:
                    # An unregistered parameter was not cast with the module.
                    dtype = parameter.dtype if registered else module_dtype(self.module)
                    parameter.data = weights[name].to(dtype, copy=True)
                else:
                    parameter.data = drawn


class Kept:
    """Built modules by what they were built from."""

    def __init__(self) -> None:
        self._built: dict[str, Built] = {}

    def take(self, name: str | None) -> Built | None:
        """Out of the kept ones while it is used: after a failure it is not used again."""
        return None if name is None else self._built.pop(name, None)

    def put(self, name: str | None, built: Built) -> None:
        """Keep it for the next probe that names it; one without a name is not kept."""
        if name is not None:
            if len(self._built) >= KEPT:
                self._built.clear()
            self._built[name] = built

    def clear(self) -> None:
        """Let all of them go."""
        self._built.clear()


class WeightSets:
    """Weights that came with an earlier probe, by number; the oldest goes first."""

    def __init__(self) -> None:
        self._sets: dict[int, Tensors] = {}

    def look_up(self, entry: dict[str, Any], tensors: list[torch.Tensor]) -> tuple[int, Tensors]:
        """The set that an entry names, taken from this probe's tensors if they are new."""
        number = entry["set"]
        if number == NO_WEIGHTS:
            return number, {}
        if entry["tensors"] is not None:
            if len(self._sets) >= MAX_SETS:
                del self._sets[next(iter(self._sets))]
            self._sets[number] = {name: tensors[at] for name, at in entry["tensors"].items()}
        return number, self._sets[number]


def module_dtype(module: torch.nn.Module) -> torch.dtype:
    """The dtype of the module's registered parameters, or torch's default."""
    first = next(module.parameters(), None)
    return torch.get_default_dtype() if first is None else first.dtype
