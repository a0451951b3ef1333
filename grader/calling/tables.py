"""Rotary positions that a file is given as tables, worked out elsewhere."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np

from grader.model import Array, Input
from grader.rotary import BASE, list_angles

# Roles of arguments: angles, complex numbers, or both waves in one tuple; cosines; sines.
TABLES = ("turn", "cos", "sin")
# Their forms, likeliest first: "d/2" is a number for each pair; "d" these twice, one after the
# other; "p" each of them twice.
WAVES = ("l d", "l p", "l d/2", "1 1 l d", "1 1 l p", "1 l d", "1 l 1 d", "1 1 l d/2")
ANGLES = (
    *("complex l d/2", "angles l d/2", "angles l d", "angles l p"),
    *("complex 1 l 1 d/2", "angles 1 1 l d", "angles 1 1 l p"),
    *("waves l d", "waves 1 l d", "waves l p", "waves l d/2", "waves 1 l p", "waves 1 l d/2"),
)


class TableForm(NamedTuple):
    """What a table holds and its axes, as in `ANGLES`, and how much of each head it turns."""

    text: str
    share: float = 1.0


def list_forms(roles: Collection[str], share: float) -> list[TableForm]:
    """The forms that tables of these roles may have."""
    return [TableForm(form, share) for form in (ANGLES if "turn" in roles else WAVES)]


def write_table(
    role: str, form: TableForm, name: str | None, shape: Sequence[int], num_heads: int, dtype: str
) -> Input:
    """The table for inputs [b, l, m], of the usual angles."""
    _, length, d_model = shape
    *kind, last = form.text.split()
    turned = round(form.share * (d_model // num_heads))
    angles = _repeat(list_angles(length, turned // 2, BASE), last)
    axes = [length if axis == "l" else 1 for axis in kind if axis in ("1", "l")]
    if kind[0] == "complex":
        # Complex numbers do not travel: they are made over there, of two numbers each.
        parts = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
        fine = "float64" if dtype == "float64" else "float32"
        return Input(parts.reshape(*axes, -1, 2), fine, "complex", name)
    angles = angles.reshape(*axes, angles.shape[-1])
    if kind[0] == "waves":
        return Input(np.stack([np.cos(angles), np.sin(angles)]), dtype, "tuple", name)
    table = {"turn": angles, "cos": np.cos(angles), "sin": np.sin(angles)}[role]
    return Input(table, dtype, "contiguous", name)


def _repeat(angles: Array, last: str) -> Array:
    if last == "d/2":
        return angles
    return np.repeat(angles, 2, axis=-1) if last == "p" else np.concatenate([angles] * 2, axis=-1)
