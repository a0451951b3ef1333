"""How many got which score."""

from __future__ import annotations

from collections.abc import Sequence

from grader.reports.html.element import Html
from grader.reports.html.pictures.svg import label, line, picture, rect

# As wide as a phone; below each column stands where it begins, which needs less room than a range.
COLUMN, TALL, TOP, BELOW = 29, 120, 20, 22


def draw_histogram(counts: Sequence[tuple[str, int]], title: str) -> Html:
    """A column for each (label, count), the number above it; labels are ranges such as 0-10."""
    most = max((count for _, count in counts), default=0) or 1
    shapes = []
    for at, (words, count) in enumerate(counts):
        tall = TALL * count / most
        x, y = at * COLUMN, TOP + TALL - tall
        if count:
            shapes.append(rect(x + 2, round(y, 1), COLUMN - 4, round(tall, 1), "column", rx="2"))
            shapes.append(label(x + COLUMN / 2, round(y - 6, 1), str(count), "count"))
        low, _, high = words.partition("-")
        shapes.append(label(x if high else x + COLUMN / 2, TOP + TALL + 16, low, "axis"))
    width = COLUMN * len(counts)
    shapes.append(line(0, TOP + TALL + 0.5, width, TOP + TALL + 0.5, "floor"))
    said = "; ".join(f"{words}: {count}" for words, count in counts)
    return picture(width, TOP + TALL + BELOW, title, *shapes, desc=said, name="histogram")
