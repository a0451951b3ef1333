"""The line that gives the sizes of the inputs their names, where a function uses them."""

from __future__ import annotations

from grader.drill.styles.lines import Lines, plain
from grader.drill.styles.pieces import NAME
from grader.drill.styles.style import Style

SIZES = {"B", "L", "Lq", "Lk", "D"}


def name_sizes(style: Style, body: Lines) -> Lines:
    """The lines that go above this body; none where it uses no size."""
    wanted = _wanted(style, body)
    if not wanted:
        return []
    fitting = (piece for piece in style.sizes if wanted <= _resolved(style, piece.names()))
    chosen = next(fitting)
    lines = chosen.parts["code"].split("\n")
    gap = plain("") if style.manner.spaced else []
    # The second line names a length that not everyone needs.
    kept = [one for one in lines if wanted & _resolved(style, set(NAME.findall(one)))]
    return [*plain(*kept), *gap]


def _wanted(style: Style, body: Lines) -> set[str]:
    used = {name for line in body for name in NAME.findall(line.text)}
    return _resolved(style, used)


def _resolved(style: Style, names: set[str]) -> set[str]:
    """The sizes among these names, each by the name that is written in the end."""
    found: set[str] = set()
    for name in names:
        inner = set(NAME.findall(style.meaning(name)))
        if inner:
            found |= _resolved(style, inner)
        elif name in SIZES:
            found.add(name)
    return found
