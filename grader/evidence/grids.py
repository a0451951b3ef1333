"""Arrays as plain rows of numbers that any format can hold."""

from __future__ import annotations

import math

import numpy as np

from grader.model import Array
from grader.model.evidence import Grid

DIGITS = 6


def to_grid(values: Array) -> Grid:
    """[q, k] -> rows; what is not finite is None."""
    return tuple(tuple(to_number(float(x)) for x in row) for row in values)


def to_number(value: float) -> float | None:
    """Rounded to what a picture can show; None for NaN and infinity."""
    return float(np.format_float_scientific(value, DIGITS)) if math.isfinite(value) else None
