"""Places: where one projection lives in a parameter, as a pattern of axes.

A pattern names the axes of the parameter in order, joined ones in brackets: f the fused
projections, h num_heads, d head_dim, m d_model. `nn.Linear(m, 3 * m)` holding q, k and v one after
the other is "(f h d) m"; an einsum parameter of shape [H, D, Dh] is "h m d".
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from grader.definition import Weights
from grader.model import Array

BIASES = {"Wq": "bq", "Wk": "bk", "Wv": "bv", "Wo": "bo"}
EACH_HEAD = "*"


class Place(NamedTuple):
    """One projection: parameter names, the pattern of each, and our slot on the fused axis.

    A name with a `*` stands for one parameter per head, stacked along h.
    """

    weight: str
    pattern: str
    bias: str | None = None
    bias_pattern: str = ""
    fused: int = 1
    slot: int = 0


class AxisSizes(NamedTuple):
    """The sizes of the axes that patterns name: heads, head size, model, fused projections."""

    h: int
    d: int
    m: int
    f: int = 1

    def by_axis(self) -> dict[str, int]:
        """The same by letter, with 1 for an axis of length one."""
        return {**self._asdict(), "1": 1}


def head_width(d_model: int, num_heads: int, wide: bool) -> int:
    """The size of one head: its share of the model, or all of it."""
    return d_model if wide else d_model // num_heads


@dataclass(frozen=True)
class Layout:
    """A place for each of Wq, Wk, Wv and, unless the module has no output projection, Wo.

    In a `wide` one every head is as wide as the model.
    """

    places: Mapping[str, Place]
    cost: int
    wide: bool = False

    def read(self, theta: Mapping[str, Array], num_heads: int) -> Weights:
        """Parameters by name -> canonical weights."""
        found: dict[str, Array | None] = dict.fromkeys(("Wo", *BIASES.values()))
        d_model = self._width(theta)
        for canonical, name, pattern, place in self._tensors:
            flat = _gather(theta, name, num_heads).reshape(-1)
            found[canonical] = flat[
                indices(canonical, pattern, place, self._sizes(place, num_heads, d_model))
            ]
        return Weights(**found)  # type: ignore[arg-type]

    def write(self, weights: Weights, num_heads: int) -> dict[str, Array]:
        """Canonical weights -> parameters by name."""
        theta: dict[str, Array] = {}
        d_model = weights.Wq.shape[1]
        for canonical, name, pattern, place in self._tensors:
            if getattr(weights, canonical) is None:
                continue
            sizes = self._sizes(place, num_heads, d_model)
            where = indices(canonical, pattern, place, sizes)
            if name not in theta:
                theta[name] = np.zeros(_shape(pattern, sizes))
            theta[name].reshape(-1)[where] = getattr(weights, canonical)
        return {
            one: array
            for name, stacked in theta.items()
            for one, array in _scatter(name, stacked, num_heads)
        }

    def biases(self) -> frozenset[str]:
        """The canonical names of the biases this module has."""
        return frozenset(BIASES[name] for name, p in self.places.items() if p.bias is not None)

    def _sizes(self, place: Place, num_heads: int, d_model: int) -> AxisSizes:
        return AxisSizes(num_heads, head_width(d_model, num_heads, self.wide), d_model, place.fused)

    @functools.cached_property
    def _tensors(self) -> list[tuple[str, str, str, Place]]:
        """(canonical name, parameter name, pattern, place) of each tensor that is there."""
        found = []
        for name, place in self.places.items():
            found.append((name, place.weight, place.pattern, place))
            if place.bias is not None:
                found.append((BIASES[name], place.bias, place.bias_pattern, place))
        return found

    def _width(self, theta: Mapping[str, Array]) -> int:
        place = self.places["Wq"]
        shape = theta[place.weight.replace(EACH_HEAD, "0")].shape
        groups = groups_of(place.pattern)
        at = groups.index(["m"]) - (EACH_HEAD in place.weight)
        return shape[at]


@functools.cache
def indices(canonical: str, pattern: str, place: Place, lengths: AxisSizes) -> Array:
    """Positions in the flat parameter of each element of one canonical tensor."""
    sizes = lengths.by_axis()
    axes = [axis for group in groups_of(pattern) for axis in group]
    grid = np.arange(int(np.prod([sizes[axis] for axis in axes]))).reshape(
        [sizes[axis] for axis in axes]
    )
    outer = ["m"] if canonical in ("Wo", "bo") else []
    fused = [axis for axis in axes if axis == "f"]
    inner = [axis for axis in ("h", "d") if axis in axes]
    tail = [axis for axis in axes if axis == "m" and not outer]
    spare = [at for at, axis in enumerate(axes) if axis == "1"]
    kept = (*fused, *outer, *inner, *tail)
    moved = grid.transpose([*spare, *(axes.index(axis) for axis in kept)])
    moved = moved.reshape([sizes[axis] for axis in kept])
    if fused:
        moved = moved[place.slot]
    if canonical == "Wo":
        return moved.reshape(lengths.m, -1)
    return moved.reshape(-1, lengths.m) if tail else moved.reshape(-1)


@functools.cache
def groups_of(pattern: str) -> list[list[str]]:
    """ "(f h d) m" -> [["f", "h", "d"], ["m"]]."""
    return [part.strip("()").split() for part in re.findall(r"\([^)]*\)|\S+", pattern)]


def shape_of(pattern: str, sizes: Mapping[str, int]) -> tuple[int, ...]:
    """The parameter shape that a pattern means."""
    return tuple(math.prod([sizes[axis] for axis in group]) for group in groups_of(pattern))


@functools.cache
def _shape(pattern: str, sizes: AxisSizes) -> tuple[int, ...]:
    return shape_of(pattern, sizes.by_axis())


def _gather(theta: Mapping[str, Array], name: str, num_heads: int) -> Array:
    if EACH_HEAD not in name:
        return theta[name]
    return np.stack([theta[name.replace(EACH_HEAD, str(i))] for i in range(num_heads)])


def _scatter(name: str, stacked: Array, num_heads: int) -> list[tuple[str, Array]]:
    if EACH_HEAD not in name:
        return [(name, stacked)]
    return [(name.replace(EACH_HEAD, str(i)), stacked[i]) for i in range(num_heads)]
