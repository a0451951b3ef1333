"""Rotary positions that a file is given as tables, worked out elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from grader.model import Array, Input
from grader.rotary import BASE, list_angles

# Roles of arguments: angles or complex numbers, cosines, sines.
TABLES = ("turn", "cos", "sin")
# Their forms, likeliest first: "d/2" is a number for each pair; "d" these twice, one after the
# other; "p" each of them twice.
ANGLES = (
    *("complex l d/2", "angles l d/2", "angles l d", "angles l p"),
    *("complex 1 l 1 d/2", "angles 1 1 l d", "angles 1 1 l p"),
)
WAVES = ("l d", "l p", "l d/2", "1 1 l d", "1 1 l p", "1 l d", "1 l 1 d", "1 1 l d/2")


def write_table(
    role: str, form: str, name: str | None, shape: Sequence[int], num_heads: int, dtype: str
) -> Input:
    """The table for inputs [b, l, m], of the usual angles."""
    _, length, d_model = shape
    *kind, last = form.split()
    head_dim = d_model // num_heads
    angles = _repeat(list_angles(length, head_dim // 2, BASE), last)
    axes = [length if axis == "l" else 1 for axis in kind if axis in ("1", "l")]
    if kind[0] == "complex":
        # Complex numbers do not travel: they are made over there, of two numbers each.
        parts = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
        fine = "float64" if dtype == "float64" else "float32"
        return Input(parts.reshape(*axes, -1, 2), fine, "complex", name)
    table = {"turn": angles, "cos": np.cos(angles), "sin": np.sin(angles)}[role]
    return Input(table.reshape(*axes, angles.shape[-1]), dtype, "contiguous", name)


def _repeat(angles: Array, last: str) -> Array:
    if last == "d/2":
        return angles
    return np.repeat(angles, 2, axis=-1) if last == "p" else np.concatenate([angles] * 2, axis=-1)
