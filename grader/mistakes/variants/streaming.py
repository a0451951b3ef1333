"""A softmax in one pass over blocks of keys, in which what came before is not rescaled.

Each block is taken against the largest score so far. When that grows, the sum of the exponentials
and the sum of the values have to shrink by the same factor; here one of them, or both, does not.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np

from grader.model import Array

BLOCKS = (1, 2, 4, 3)


def kept(block: int, total: bool, context: bool) -> Callable[[Array], Array]:
    """The factors of the values in the end, where the `total`, or the `context`, is kept."""

    def softmax_kept(scores: Array) -> Array:
        reached = np.maximum.accumulate(scores, axis=-1)
        length = scores.shape[-1]
        # What is the largest once the block of each key has been seen.
        ends = np.minimum((np.arange(length) // block + 1) * block, length) - 1
        then = reached[..., ends]
        early, late = (_exp(scores, top) for top in (then, reached[..., -1:]))
        sums = (early if total else late).sum(axis=-1, keepdims=True)
        return (early if context else late) / np.where(sums == 0.0, 1.0, sums)

    return softmax_kept


def _exp(scores: Array, top: Array) -> Array:
    return np.exp(scores - np.where(np.isfinite(top), top, 0.0))


WAYS = tuple(
    kept(block, *which)
    for block, which in itertools.product(BLOCKS, ((True, False), (False, True), (True, True)))
)
