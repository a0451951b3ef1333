"""A window: a query sees only the keys near to its own position, where nothing asks for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from grader.definition import share_dead_rows
from grader.mistakes.variants.masking import nan_dead_rows, zero_hidden
from grader.model import Array

Weighing = Callable[[Array, Array | None], Array]


def within(radius: int) -> Callable[[Array], Array]:
    """Scores of keys more than `radius` away are -inf, with or without a mask."""

    def keep_near(scores: Array) -> Array:
        return np.where(_near(scores, radius), scores, -np.inf)

    return keep_near


def ending_within(radius: int, end: Weighing) -> Weighing:
    """What `end` does to rows that see nothing, of those that see nothing in the window."""

    def end_near(weights: Array, visible: Array | None) -> Array:
        return end(weights, None if visible is None else visible & _near(weights, radius))

    return end_near


def shared_within(radius: int) -> Weighing:
    """Equal weights in such rows, of which those of hidden keys are zeroed after all."""

    def share_among_shown(weights: Array, visible: Array | None) -> Array:
        return zero_hidden(ending_within(radius, share_dead_rows)(weights, visible), visible)

    return share_among_shown


def ways(*radii: int) -> list[dict[str, Any]]:
    """Each radius by itself, then with each thing that may become of rows it leaves empty."""
    plain: list[dict[str, Any]] = [{"lean": within(radius)} for radius in radii]
    ended: list[dict[str, Any]] = [
        way | {"after_softmax": end}
        for way, radius in zip(plain, radii)
        for end in (
            shared_within(radius),
            ending_within(radius, share_dead_rows),
            ending_within(radius, nan_dead_rows),
        )
    ]
    return plain + ended


def _near(scores: Array, radius: int) -> Array:
    query, key = np.ogrid[: scores.shape[-2], : scores.shape[-1]]
    found: Array = np.abs(query - key) <= radius
    return found
