"""The attention weights as heat maps, and the mask they were made under."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from grader.model import Report
from grader.model.evidence import Attention, Grid, Seen
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
    alike = len(set(seen.visible)) == 1
    for head, visible in enumerate(seen.visible[:1] if alike else seen.visible):
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
    """For each head what was expected, what came, and how they differ, side by side."""
    if not seen.got:
        pairs = zip(seen.expected, _masks(seen))
        maps = (
            _write_map(grid, mask, 1.0, _name(head, "html.expected", texts), texts)
            for head, (grid, mask) in enumerate(pairs)
        )
        yield el("div", *maps, class_="maps")
        return
    differences = [_subtract(got, wanted) for got, wanted in zip(seen.got, seen.expected)]
    most = max([LEAST, *(size for grid in differences for size in _sizes(grid))])
    for head, mask in enumerate(_masks(seen)):
        grids = (
            ("html.expected", seen.expected[head], 1.0),
            # Full colour for 1, or for the largest of what are no weights.
            ("html.got", seen.got[head], max([1.0, *_sizes(seen.got[head])])),
            ("html.difference", differences[head], most),
        )
        maps = (
            _write_map(grid, mask, limit, _name(head, key, texts), texts)
            for key, grid, limit in grids
        )
        yield el("div", *maps, class_="maps")


def _masks(seen: Attention) -> Sequence[Seen]:
    return seen.visible or ((),) * len(seen.expected)


def _sizes(grid: Grid) -> Iterator[float]:
    return (abs(value) for row in grid for value in row if value is not None)


def _name(head: int, key: str, texts: Texts) -> str:
    return texts("html.map", head=head, what=texts(key))


def _write_map(grid: Grid, mask: Seen, most: float, name: str, texts: Texts) -> Html:
    return _figure(name, draw_heat(grid, mask, most, name, _say_grid(grid, texts)), name)


def _say_grid(grid: Grid, texts: Texts) -> str:
    rows = (
        texts("html.grid.row", query=query, values=", ".join(map(brief, row)))
        for query, row in enumerate(grid)
    )
    return " ".join(rows)


def _figure(label: str, picture: Html, caption: str) -> Html:
    return el("figure", el("figcaption", caption), scroll(label, picture))
