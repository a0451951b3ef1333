"""One reading of a file's parameters, held against many mistakes.

Most mistakes replace one step, and what comes before that step is the same as without them. So each
stretch of the definition is worked out once for all that agree on the steps up to its end.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeVar

import numpy as np

from grader.definition import (
    Steps,
    Weights,
    compare,
    complete,
    gather,
    make_heads,
    take_rows,
    weigh,
)
from grader.model import Array

T = TypeVar("T")


class Rehearsal:
    """The definition on one problem, by whichever steps and masks are asked for."""

    def __init__(
        self,
        weights: Weights,
        attended: tuple[Array, Array, Array],
        num_heads: int,
        rows: Sequence[int] = (),
    ) -> None:
        self.weights = weights
        self._rows = rows
        self._attended = attended
        self._num_heads = num_heads
        self._known: dict[Hashable, Any] = {}

    def play(self, steps: Steps, visible: Array | None) -> Array:
        """The output [b, q, m] by these steps; NaN where they do not fit these sizes.

        It is of `rows` alone, as in `attend`, where there are any.
        """
        try:
            with np.errstate(all="ignore"):
                return self._play(steps, visible)
        except ValueError:
            query = self._attended[0]
            return np.full_like(query[:, self._rows] if self._rows else query, np.nan)

    def _play(self, steps: Steps, visible: Array | None) -> Array:
        weights = steps.weights(self.weights)
        query, key, value = steps.inputs(*self._attended)
        so_far: tuple[Hashable, ...] = (steps.weights, steps.inputs)
        so_far += (steps.split, steps.heads, steps.turn)
        q, k, v = self._once(
            so_far, lambda: make_heads(weights, (query, key, value), self._num_heads, steps)
        )
        q, query = take_rows(q, query, self._rows)
        so_far += (steps.score, steps.scale, steps.lean)
        _, scaled = self._once(so_far, lambda: compare(q, k, query.shape[-1], steps))
        shown = None if visible is None else steps.visible(visible)
        so_far += (None if shown is None else shown.tobytes(),)
        so_far += (steps.hide, steps.softmax, steps.after_softmax)
        _, shares = self._once(so_far, lambda: weigh(scaled, shown, steps))
        so_far += (steps.mix, steps.merge, steps.project)
        _, _, projected = self._once(so_far, lambda: gather(shares, v, weights, steps))
        return complete(projected, query, shown, steps)

    def _once(self, key: Hashable, make: Callable[[], T]) -> T:
        if key not in self._known:
            self._known[key] = make()
        found: T = self._known[key]
        return found
