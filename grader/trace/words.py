"""Shapes in letters: B batch, H heads, L queries, S keys, d head size, D model."""

from __future__ import annotations

from collections.abc import Sequence


def in_letters(letters: Sequence[str]) -> str:
    """("B", "L", "Hd") -> "[B, L, H*d]"; an axis that runs along nothing is 1."""
    return "[" + ", ".join("*".join(axis) or "1" for axis in letters) + "]"


def write_shape(axes: str) -> str:
    """ "BHLd" -> "[B, H, L, d]"."""
    return in_letters(tuple(axes))
