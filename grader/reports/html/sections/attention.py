"""The attention weights as heat maps, and the mask they were made under."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from grader.model import Attention, Grid, Report
from grader.model.evidence import Seen
from grader.reports.html.element import Html, el, join
from grader.reports.html.page import scroll, section
from grader.reports.html.pictures.heat import brief, draw_heat, draw_mask
from grader.texts import Texts

# Differences below this are rounding, and are drawn as none.
LEAST = 1e-3
CLOSE = 1e-6


def write_attention(report: Report, texts: Texts) -> Html:
    """Expected, got and their difference for each head; nothing where nothing was seen."""
    seen = report.evidence.attention if report.evidence else None
    if seen is None:
        return join()
    parts = [el("p", _describe(seen, texts), class_="lead"), el("p", _judge(seen, texts))]
    parts += _write_masks(seen, texts)
    parts += _write_heads(seen, texts)
    return section(texts("html.attention"), el("div", *parts, class_="panel"))


def _describe(seen: Attention, texts: Texts) -> str:
    heads, queries = len(seen.expected), len(seen.expected[0])
    keys = len(seen.expected[0][0])
    return texts("html.attention.about", heads=heads, queries=queries, keys=keys)


def _judge(seen: Attention, texts: Texts) -> str:
    """One sentence that says what the maps show."""
    if not seen.got:
        return texts("html.attention.unseen")
    made = texts("html.attention.made", line=seen.line) if seen.line else ""
    differences = [_subtract(got, wanted) for got, wanted in zip(seen.got, seen.expected)]
    broken = sum(value is None for grid in differences for row in grid for value in row)
    if broken:
        total = sum(len(row) for grid in differences for row in grid)
        return texts("html.attention.broken", count=broken, total=total, made=made)
    size, head, query, key = max(
        (abs(value or 0.0), head, query, key)
        for head, grid in enumerate(differences)
        for query, row in enumerate(grid)
        for key, value in enumerate(row)
    )
    if size <= CLOSE:
        return texts("html.attention.agree", made=made)
    place = {"head": head, "query": query, "key": key}
    got, wanted = seen.got[head][query][key], seen.expected[head][query][key]
    return texts(
        "html.attention.differ", made=made, got=brief(got), expected=brief(wanted), **place
    )


def _subtract(got: Grid, wanted: Grid) -> Grid:
    return tuple(
        tuple(None if a is None or b is None else a - b for a, b in zip(*rows))
        for rows in zip(got, wanted)
    )


def _write_masks(seen: Attention, texts: Texts) -> Iterator[Html]:
    """One mask for all heads where it is the same for each."""
    for head, visible in enumerate(dict.fromkeys(seen.visible)):
        alike = len(set(seen.visible)) == 1
        title = texts("html.mask") if alike else texts("html.mask.head", head=head)
        said = texts("html.mask.legend")
        picture = draw_mask(visible, title, _say_mask(visible, texts))
        caption = join(el("b", title), " ", said)
        yield _figure(title, picture, caption)


def _say_mask(visible: Seen, texts: Texts) -> str:
    rows = []
    for query, row in enumerate(visible):
        keys = ", ".join(str(key) for key, shown in enumerate(row) if shown)
        rows.append(texts("html.mask.row", query=query, keys=keys or texts("html.mask.none")))
    return " ".join(rows)


def _write_heads(seen: Attention, texts: Texts) -> Iterator[Html]:
    got: Sequence[Grid] = seen.got or ((),) * len(seen.expected)
    differences = [_subtract(one, wanted) for one, wanted in zip(got, seen.expected)]
    sizes = [abs(x) for grid in differences for row in grid for x in row if x is not None]
    most = max([LEAST, *sizes])
    for head, wanted in enumerate(seen.expected):
        visible = seen.visible[head] if seen.visible else ()
        grids = [("html.expected", wanted, 1.0)]
        if seen.got:
            grids.append(("html.got", got[head], _scale(got[head])))
            grids.append(("html.difference", differences[head], most))
        name = texts("html.head", head=head)
        maps = []
        for key, grid, limit in grids:
            title = f"{name}: {texts(key)}"
            picture = draw_heat(grid, visible, limit, title, _say_grid(grid, texts))
            maps.append(_figure(title, picture, texts(key)))
        yield el("div", el("h3", name), el("div", *maps, class_="maps"), class_="head")


def _scale(grid: Grid) -> float:
    """Full colour for 1, or for the largest of what are no weights."""
    finite = [abs(x) for row in grid for x in row if x is not None and math.isfinite(x)]
    return max([1.0, *finite])


def _say_grid(grid: Grid, texts: Texts) -> str:
    rows = (
        texts("html.grid.row", query=query, values=", ".join(map(brief, row)))
        for query, row in enumerate(grid)
    )
    return " ".join(rows)


def _figure(label: str, picture: Html, caption: str) -> Html:
    return el("figure", scroll(label, picture), el("figcaption", caption))
