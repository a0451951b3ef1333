"""Projections made in one piece, and taken apart by a view that runs across them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

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
    view: Callable[[Array, int], Array],
    split: Callable[[Array, int], Array],
    order: Sequence[int],
) -> Callable[[Array, Array, Array], Heads]:
    """The last of q, k and v, as if one layer had made them and `view` parted them.

    `order` says which part is taken for the first of them, which for the second.
    """

    def regroup(q: Array, k: Array, v: Array) -> Heads:
        kept = 3 - len(order)
        fused = np.concatenate([merge_heads(x) for x in (q, k, v)[kept:]], axis=-1)
        parts = [split(part, q.shape[1]) for part in view(fused, len(order))]
        found = [*(q, k, v)[:kept], *(parts[place] for place in order)]
        return found[0], found[1], found[2]

    return regroup


VIEWS = ((counted_first, split_heads), (counted_second, split_by_view))
MIXED = ((counted_second, split_heads), (counted_first, split_by_view))
# The likeliest first. Of parts that are mixed it is no matter of layout which of them is q.
ORDERS: tuple[tuple[int, ...], ...] = ((0, 1, 2), (0, 1))
OTHERS: tuple[tuple[int, ...], ...] = (*itertools.permutations(range(3)), (0, 1), (1, 0))
WAYS = (
    *(taken_apart(*view, order) for order in ORDERS for view in (*VIEWS, *MIXED)),
    *(taken_apart(*view, order) for order in OTHERS if order not in ORDERS for view in VIEWS),
)
