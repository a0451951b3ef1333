"""Where in a parameter the elements of one projection are, as index arrays."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from grader.model import Array

# What keys and values have; there may be fewer heads of them.
SHARED = ("Wk", "bk", "Wv", "bv")
FUSED = 3
MOST_KEPT = 1024


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


def find_elements(
    canonical: str, pattern: str, place: Place, sizes: AxisSizes, kv_heads: int
) -> Array:
    """Positions in the flat parameter of each element of one canonical tensor.

    `sizes` has the heads of queries; of keys and values there may be fewer.
    """
    if sizes.h > kv_heads and lies_after_query(place):
        rows = _rows(place, sizes, kv_heads)
        if not canonical.startswith("W"):
            return rows
        return rows[:, None] * sizes.m + np.arange(sizes.m)
    own = _own_sizes(canonical, place, sizes, kv_heads)
    return indices(canonical, pattern, place.slot, own)


def find_shape(
    canonical: str, pattern: str, place: Place, sizes: AxisSizes, kv_heads: int
) -> tuple[int, ...]:
    """The shape of the whole parameter."""
    if sizes.h > kv_heads and lies_after_query(place):
        rows = (sizes.h + 2 * kv_heads) * sizes.d
        return (rows, sizes.m) if canonical.startswith("W") else (rows,)
    return _shape(pattern, _own_sizes(canonical, place, sizes, kv_heads))


def lies_after_query(place: Place) -> bool:
    """True in a parameter of queries, keys and values in a row, which need not be equally many.

    There may be one such row for all, or one for each head of keys and values, of the queries that
    use it, its keys and its values.
    """
    return place.fused == FUSED and place.pattern in ("(f h d) m", "(h f d) m")


def _rows(place: Place, sizes: AxisSizes, kv_heads: int) -> Array:
    """The rows of one of three projections, queries first in each group."""
    groups = kv_heads if place.pattern == "(h f d) m" else 1
    heads = [sizes.h // groups, kv_heads // groups, kv_heads // groups]
    every = np.arange((sizes.h + 2 * kv_heads) * sizes.d).reshape(groups, -1)
    start = sum(heads[: place.slot]) * sizes.d
    return every[:, start : start + heads[place.slot] * sizes.d].reshape(-1)


def _own_sizes(canonical: str, place: Place, sizes: AxisSizes, kv_heads: int) -> AxisSizes:
    heads = kv_heads if canonical in SHARED else sizes.h
    return sizes._replace(h=heads, f=place.fused)


# By what a file's parameters are like, not by their names: of a course's files many are alike.
@functools.lru_cache(maxsize=MOST_KEPT)
def indices(canonical: str, pattern: str, slot: int, lengths: AxisSizes) -> Array:
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
        moved = moved[slot]
    if canonical == "Wo":
        return moved.reshape(lengths.m, -1)
    return moved.reshape(-1, lengths.m) if tail else moved.reshape(-1)


@functools.lru_cache(maxsize=MOST_KEPT)
def groups_of(pattern: str) -> list[list[str]]:
    """ "(f h d) m" -> [["f", "h", "d"], ["m"]]."""
    return [part.strip("()").split() for part in re.findall(r"\([^)]*\)|\S+", pattern)]


def shape_of(pattern: str, sizes: Mapping[str, int]) -> tuple[int, ...]:
    """The parameter shape that a pattern means."""
    return tuple(math.prod([sizes[axis] for axis in group]) for group in groups_of(pattern))


@functools.lru_cache(maxsize=MOST_KEPT)
def _shape(pattern: str, sizes: AxisSizes) -> tuple[int, ...]:
    return shape_of(pattern, sizes.by_axis())
