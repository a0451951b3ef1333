"""Projections made in one piece, and taken apart by a view that runs across them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from grader.definition import merge_heads, split_heads
from grader.mistakes.variants.regrouping import split_by_view
from grader.model import Array

Heads = tuple[Array, Array, Array]


def counted_first(parts: Array, count: int) -> Array:
    """[b, l, n*h*d] read as [n, b, l, h*d] at once."""
    batch, length, width = parts.shape
    return parts.reshape(count, batch, length, width // count)


def counted_second(parts: Array, count: int) -> Array:
    """[b, l, n*h*d] read as [b, n, l, h*d] at once."""
    batch, length, width = parts.shape
    return parts.reshape(batch, count, length, width // count).swapaxes(0, 1)


def taken_apart(
    view: Callable[[Array, int], Array], split: Callable[[Array, int], Array], count: int
) -> Callable[[Array, Array, Array], Heads]:
    """The last `count` of q, k and v, as if one layer had made them and `view` parted them."""

    def regroup(q: Array, k: Array, v: Array) -> Heads:
        fused = np.concatenate([merge_heads(x) for x in (q, k, v)[-count:]], axis=-1)
        parts = [split(part, q.shape[1]) for part in view(fused, count)]
        found = [q, k, v][:-count] + parts
        return found[0], found[1], found[2]

    return regroup


# The likeliest first.
WAYS = tuple(
    taken_apart(view, split, count)
    for count in (3, 2)
    for view, split in (
        (counted_first, split_heads),
        (counted_second, split_by_view),
        (counted_second, split_heads),
        (counted_first, split_by_view),
    )
)
