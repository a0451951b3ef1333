"""Recognises a traced tensor among the landmarks, up to slices, turns and folds of its axes."""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from grader.bank.problem import Problem
from grader.model import Array
from grader.trace.landmarks import WILD, Landmark

CLOSE = 1e-6
# Fewer values than this are no evidence.
ENOUGH = 8
FEW = 4


@dataclass(frozen=True)
class Recognised:
    """What a tensor is: a landmark, the letters of each of its axes, and what is odd about it.

    `scrambled` are landmark axes that run along several axes of the tensor, mixed with others
    there; `shown` and `hidden` are positions [b, h, q, k] that the mask put into it leaves visible
    or hides against what was meant. `places` are the flat positions in the landmark, -1 where a
    mask has taken the value away.
    """

    landmark: Landmark
    letters: tuple[str, ...]
    scrambled: tuple[str, ...] = ()
    masked: bool = False
    shown: tuple[tuple[int, ...], ...] = ()
    hidden: tuple[tuple[int, ...], ...] = ()
    places: Array | None = field(default=None, repr=False, compare=False)

    @property
    def is_clean(self) -> bool:
        """True where nothing is odd."""
        return not (self.scrambled or self.shown or self.hidden)


def recognise(
    value: Array | None, known: Sequence[Landmark], problem: Problem
) -> Recognised | None:
    """The landmark whose values these are; None where there is none, or too little to say."""
    if value is None or value.dtype.kind != "f" or value.size < ENOUGH:
        return None
    first = None
    few = value.reshape(-1)[:FEW]
    few = few[np.isfinite(few) & (np.abs(few) < WILD)].tolist()
    for landmark in known:
        found = _compare(value, landmark, problem) if _may_be(few, landmark) else None
        if found is not None and found.is_clean:
            return found
        first = first or found
    if first is None:
        repaired = _without_dead_rows(value, problem)
        return None if repaired is None else recognise(repaired, known, problem)
    return first


def _without_dead_rows(value: Array, problem: Problem) -> Array | None:
    """The scores with rows that see nothing taken away, where one number stands all along these.

    Many right files put such a number there, against NaN, and take the weights away later.
    """
    shape = problem.sizes.scores
    if problem.visible is None or value.size != np.prod(shape) or value.shape[-2:] != shape[-2:]:
        return None
    dead = np.broadcast_to(~problem.visible.any(axis=-1), shape[:-1]).reshape(value.shape[:-1])
    rows = value[dead]
    if not (rows.size and np.isfinite(rows).all() and (rows == rows[:, :1]).all()):
        return None
    return np.where(dead[..., None], -np.inf, value)


def _may_be(few: Sequence[float], landmark: Landmark) -> bool:
    """False where one of the first few values is certainly not in the landmark."""
    ranked, near = landmark.ranked, CLOSE * landmark.scale
    for x in few:
        at = bisect.bisect_left(ranked, x - near)
        if at == len(ranked) or not ranked[at] <= x + near:
            return False
    return True


def _compare(value: Array, landmark: Landmark, problem: Problem) -> Recognised | None:
    scores = landmark.stage in (2, 3)
    wild = ~np.isfinite(value) | (np.abs(value) >= max(WILD, 10 * landmark.scale))
    if wild.any() and not (scores and (value[wild] < 0).all()):
        return None
    if (~wild).sum() < ENOUGH or np.isnan(value).any():
        return None
    places = _places(np.where(wild, 0.0, value), landmark)
    if (places[~wild] < 0).any():
        return None
    if not wild.any() and not _has_all(value, landmark):
        return None
    # Ones and zeros are in many tensors, and say nothing of where they come from.
    if (~wild & ~landmark.tied[np.maximum(places, 0)]).sum() < FEW:
        return None
    coordinates = _coordinates(places, wild, landmark)
    letters, scrambled = _label(coordinates, landmark, value.shape)
    shown, hidden = _check_mask(coordinates, wild, landmark, problem) if wild.any() else ((), ())
    kept = np.where(wild, -1, places)
    return Recognised(landmark, letters, scrambled, bool(wild.any()), shown, hidden, kept)


def check_part(found: Recognised, before: Recognised, problem: Problem) -> Recognised:
    """The same with its mask checked, for a part of the scores; `before` is it without the mask."""
    if found.places is None or before.places is None or problem.visible is None:
        return found
    if found.places.shape != before.places.shape or before.masked:
        return found
    meant = np.broadcast_to(problem.visible, found.landmark.value.shape).reshape(-1)
    asked = meant[before.places]
    visible = found.places >= 0
    shape = found.landmark.value.shape
    shown = np.unique(before.places[visible & ~asked])
    hidden = np.unique(before.places[~visible & asked])
    return replace(found, shown=_unravel(shown, shape), hidden=_unravel(hidden, shape))


def _unravel(places: Array, shape: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(int(i) for i in np.unravel_index(place, shape)) for place in places)


def _has_all(value: Array, landmark: Landmark) -> bool:
    """False for as many values as the landmark has, where some come too often."""
    if value.size != landmark.value.size:
        return True
    return bool(
        np.allclose(np.sort(value, axis=None), landmark.sorted, atol=CLOSE * landmark.scale)
    )


def _places(value: Array, landmark: Landmark) -> Array:
    """For each value, its flat position in the landmark; -1 where it has no such value."""
    ranked = landmark.sorted
    at = np.clip(np.searchsorted(ranked, value), 1, len(ranked) - 1)
    at = np.where(np.abs(ranked[at - 1] - value) < np.abs(ranked[at] - value), at - 1, at)
    with np.errstate(invalid="ignore"):
        close = np.abs(ranked[at] - value) <= CLOSE * landmark.scale
    return np.where(close, landmark.order[at], -1)


def _coordinates(places: Array, wild: Array, landmark: Landmark) -> Array:
    """[axes of the landmark, *shape]: where each value stands there; NaN where not known."""
    found = np.array(np.unravel_index(np.maximum(places, 0), landmark.value.shape), dtype=float)
    found[:, wild | landmark.tied[np.maximum(places, 0)]] = np.nan
    return found


def _label(
    coordinates: Array, landmark: Landmark, shape: tuple[int, ...]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    letters = ["" for _ in shape]
    along: dict[str, list[int]] = {}
    varying = [_varying(coordinates, axis + 1) for axis in range(len(shape))]
    for at, letter in enumerate(landmark.axes):
        along[letter] = [axis for axis, varies in enumerate(varying) if varies[at]]
        for axis in along[letter]:
            letters[axis] += letter
    # An axis cut in two is still itself, as long as nothing else runs along its parts.
    scrambled = [
        letter
        for letter, axes in along.items()
        if len(axes) > 1 and any(len(letters[axis]) > 1 for axis in axes)
    ]
    return tuple(letters), tuple(scrambled)


def _varying(coordinates: Array, axis: int) -> list[bool]:
    """For each axis of the landmark, whether it runs along this one of the tensor."""
    # fmin and fmax pass over NaN; along an axis with no known value both give NaN.
    low, high = np.fmin.reduce(coordinates, axis=axis), np.fmax.reduce(coordinates, axis=axis)
    varies: list[bool] = (high > low).reshape(len(coordinates), -1).any(axis=1).tolist()
    return varies


def _check_mask(
    coordinates: Array, wild: Array, landmark: Landmark, problem: Problem
) -> tuple[tuple[tuple[int, ...], ...], tuple[tuple[int, ...], ...]]:
    """Positions that are visible and should not be, and the other way round."""
    seen = np.zeros(landmark.value.shape, dtype=bool)
    known = ~np.isnan(coordinates[0])
    seen[tuple(axis[known].astype(int) for axis in coordinates)] = True
    if problem.visible is None or wild.size != landmark.value.size:
        return (), ()
    meant = np.broadcast_to(problem.visible, seen.shape)
    return _positions(seen & ~meant), _positions(~seen & meant)


def _positions(where: Array) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(int(i) for i in row) for row in np.argwhere(where))
