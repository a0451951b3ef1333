"""What pictures of a report are made of: one small problem, and what the file made of it."""

from __future__ import annotations

from typing import NamedTuple

# Rows of numbers; None stands for NaN and for what is infinite.
Grid = tuple[tuple[float | None, ...], ...]
Seen = tuple[tuple[bool, ...], ...]


class Attention(NamedTuple):
    """The attention weights of one sample, a grid [q, k] for each head.

    `visible` is what the mask shows, () where there is none. `got` is () where the file's weights
    could not be seen among its tensors; `line` is where they were made.
    """

    expected: tuple[Grid, ...]
    got: tuple[Grid, ...] = ()
    visible: tuple[Seen, ...] = ()
    line: int | None = None


class Slope(NamedTuple):
    """How right one gradient is: the largest of its values, expected and got, and of its errors.

    `error` is a share of the largest value of all gradients. `got` is None where none came or where
    it is not finite, and then `error` is None too.
    """

    name: str
    expected: float
    got: float | None
    error: float | None


class Evidence(NamedTuple):
    """Lines of the file around what is said of it, and values to draw; gathered on request.

    `allowed` is the largest error of a right gradient.
    """

    lines: tuple[tuple[int, str], ...] = ()
    attention: Attention | None = None
    gradients: tuple[Slope, ...] = ()
    allowed: float = 0.0
