"""Where the project's data files are, in a checkout and in an installed package."""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).resolve().parent


def folder(name: str) -> Path:
    """`exercises` or `reference`: inside the package once installed, beside it in a checkout."""
    inside = PACKAGE / name
    return inside if inside.is_dir() else PACKAGE.parent / name


def stem_of(exercise: str) -> str:
    """The file stem of an exercise id: Python modules have no hyphens."""
    return exercise.replace("-", "_")
