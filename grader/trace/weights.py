"""The attention weights that a file used, found among its own tensors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from grader.bank.problem import Problem
from grader.model import Array, Step
from grader.trace.trail import Trail

# What keeps the order of the values, whatever it does to the shape.
RESHAPES = ("view", "reshape", "unflatten", "flatten", "squeeze", "unsqueeze", "contiguous")
SCORES = (2, 3)


def find_weights(
    steps: Sequence[Step], problem: Problem, sequences: int
) -> tuple[Array | None, int | None]:
    """([b, h, q, k], the line that made them); None where they cannot be told.

    They are the last that became of the scores, value for value: whatever a file does to them
    between the first product and the second, each stays at its place.
    """
    trail = Trail(steps, problem, sequences)
    shape = problem.truth.weights.shape
    places = _follow(trail, shape)
    used = np.full(shape, np.nan)
    filled = np.zeros(used.size, dtype=bool)
    line = None
    for step, where in zip(steps, places):
        if where is not None and step.value is not None:
            used.reshape(-1)[where] = step.value
            filled[where.reshape(-1)] = True
            line = step.line
    return (used, line) if filled.all() else (None, None)


def _follow(trail: Trail, shape: tuple[int, ...]) -> list[Array | None]:
    """For each step, where its values stand among the scores; None for other tensors."""
    places: list[Array | None] = []
    known = any(trail.stage(at) in SCORES for at in range(len(trail.steps)))
    for at, step in enumerate(trail.steps):
        before = (places[parent] for parent in trail.parents[at])
        kept = next((p for p in (_carry(step, one) for one in before) if p is not None), None)
        if kept is None and trail.is_float(at) and trail.derived[at]:
            kept = _recognised(trail, at) if known else _by_shape(step, shape)
        places.append(kept if trail.is_float(at) else None)
    return places


def _carry(step: Step, places: Array | None) -> Array | None:
    """The places of a tensor that was made value by value of one with these."""
    if places is None or step.shape == places.shape:
        return places
    same = step.operation.strip("_") in RESHAPES and np.prod(step.shape) == places.size
    return places.reshape(step.shape) if same else None


def _recognised(trail: Trail, at: int) -> Array | None:
    """Where scores stand, by their values; all of them must be known."""
    found = trail.found[at]
    if found is None or found.landmark.stage not in SCORES or found.places is None:
        return None
    unique = found.places.min() >= 0 and np.unique(found.places).size == found.places.size
    return found.places if unique else None


def _by_shape(step: Step, shape: tuple[int, ...]) -> Array | None:
    """Scores that no right attention has still have their shape."""
    folded = (shape[0] * shape[1], *shape[2:])
    size = int(np.prod(shape))
    return np.arange(size).reshape(step.shape) if step.shape in (shape, folded) else None
