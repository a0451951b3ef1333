"""How many got which score."""

from __future__ import annotations

from collections.abc import Sequence

from grader.reports.html.element import Html
from grader.reports.html.pictures.svg import label, line, picture, rect

COLUMN, TALL, TOP, BELOW = 48, 140, 20, 22


def draw_histogram(counts: Sequence[tuple[str, int]], title: str) -> Html:
    """A column for each (label, count), the number above it."""
    most = max((count for _, count in counts), default=0) or 1
    shapes = []
    for at, (words, count) in enumerate(counts):
        tall = TALL * count / most
        x, y = at * COLUMN, TOP + TALL - tall
        if count:
            shapes.append(rect(x + 4, round(y, 1), COLUMN - 8, round(tall, 1), "column", rx="2"))
            shapes.append(label(x + COLUMN / 2, round(y - 6, 1), str(count), "count"))
        shapes.append(label(x + COLUMN / 2, TOP + TALL + 16, words, "axis"))
    width = COLUMN * len(counts)
    shapes.append(line(0, TOP + TALL + 0.5, width, TOP + TALL + 0.5, "floor"))
    said = "; ".join(f"{words}: {count}" for words, count in counts)
    return picture(width, TOP + TALL + BELOW, title, *shapes, desc=said, name="histogram")
