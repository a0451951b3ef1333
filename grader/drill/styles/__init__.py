"""Right answers in ever new styles: what drills plant mistakes in, or ask about."""

from __future__ import annotations

import random

from grader.drill.styles.lines import WIDTH, Line, as_text
from grader.drill.styles.pieces import Edits
from grader.drill.styles.style import Style, draw_style, offered
from grader.drill.styles.writing import write

__all__ = [
    "WIDTH",
    "Edits",
    "Line",
    "Style",
    "as_text",
    "draw",
    "fits",
    "offered",
    "write",
]


def draw(order: random.Random, exercise: str | None = None) -> Style:
    """A style for this exercise or any; raises UsageError for one that there are no pieces for."""
    style = draw_style(order, exercise)
    while not fits(write(style)):
        style = style.renamed(order)
    return style


def fits(lines: tuple[Line, ...]) -> bool:
    """True where no line is longer than people make them."""
    return all(len(line.text) <= WIDTH for line in lines)
