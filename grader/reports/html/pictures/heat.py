"""Heat maps of numbers by query and key, and the mask."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from grader.model.evidence import Grid, Seen
from grader.reports.html.element import Html
from grader.reports.html.pictures.svg import label, line, picture, rect

CELL, EDGE = 33, 18
NOTHING = "0.00"
T = TypeVar("T")
Shape = Callable[[float, float, T], Iterator[Html]]


def draw_heat(grid: Grid, visible: Seen, most: float, title: str, desc: str) -> Html:
    """Each number in its cell, `most` and beyond in full colour; what is hidden is crossed."""

    def cell(x: float, y: float, at: tuple[int, int]) -> Iterator[Html]:
        query, key = at
        value = grid[query][key]
        kind = "nan" if value is None else "more" if value >= 0 else "less"
        share = 1.0 if value is None else min(abs(value) / most, 1.0)
        yield rect(x, y, CELL, CELL, kind, fill_opacity=f"{share:.3g}")
        crossed = bool(visible) and not visible[query][key]
        if crossed:
            yield _cross(x, y)
        # What is hidden and nothing says so by its cross; what is not nothing stands out.
        if not crossed or brief(value) != NOTHING:
            yield label(x + CELL / 2, y + CELL / 2 + 4, brief(value), "value")

    return _draw(grid, cell, title, desc, "heat")


def draw_mask(visible: Seen, title: str, desc: str) -> Html:
    """A full cell where a query may see a key, an empty crossed one where not."""

    def cell(x: float, y: float, at: tuple[int, int]) -> Iterator[Html]:
        seen = visible[at[0]][at[1]]
        yield rect(x, y, CELL, CELL, "shown" if seen else "blank")
        if not seen:
            yield _cross(x, y)

    return _draw(visible, cell, title, desc, "heat mask")


def _cross(x: float, y: float) -> Html:
    return line(x + 3, y + CELL - 3, x + CELL - 3, y + 3, "hidden")


def brief(value: float | None) -> str:
    """A number in at most six characters."""
    if value is None:
        return "NaN"
    if abs(value) < 9.995:
        written = f"{value:.2f}"
        return written.removeprefix("-") if float(written) == 0 else written
    return f"{value:.0f}" if abs(value) < 1e4 else f"{value:.0e}"


def _draw(
    rows: Sequence[Sequence[T]], cell: Shape[tuple[int, int]], title: str, desc: str, name: str
) -> Html:
    width = EDGE + CELL * max(map(len, rows), default=0)
    height = EDGE + CELL * len(rows)
    return picture(width + 1, height + 1, title, *_cells(rows, cell), desc=desc, name=name)


def _cells(rows: Sequence[Sequence[T]], cell: Shape[tuple[int, int]]) -> Iterator[Html]:
    for key in range(max(map(len, rows), default=0)):
        yield label(EDGE + CELL * key + CELL / 2, EDGE - 6, str(key), "axis")
    for query, values in enumerate(rows):
        y = EDGE + CELL * query
        yield label(EDGE - 9, y + CELL / 2 + 4, str(query), "axis")
        for key in range(len(values)):
            yield from cell(EDGE + CELL * key, y, (query, key))
