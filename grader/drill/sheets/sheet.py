"""Makes sheets: right answers with blanks for shapes."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from grader.drill.sheets.shapes import draw_sizes, write_axes
from grader.drill.styles import WIDTH, Line, Style, as_text, draw, fits, write

BLANK = "____"
MARK = "  # shape: "
MARK_EACH = "  # shape of each: "
# How many styles are tried for room, and how many further sets of names for each.
STYLES, NAMINGS = 6, 12
# Roles whose names stand for a size, and the size.
SIZES = {"heads": "H", "dim": "Dh", "d_model": "D", "num_heads": "H"}
# Where a line may give the sizes of a tensor their names.
UNPACKED = re.compile(r"shape|\.size\(")
LENGTHS = {1: ("B", "L", "D"), 3: ("B", "Lq", "Lk", "D")}


@dataclass(frozen=True)
class Blank:
    """One blank: its line in the source, the code there, what the line names, the true shape."""

    line: int
    code: str
    name: str
    wanted: str


@dataclass(frozen=True)
class Sheet:
    """A drill: `source` is the file with blanks.

    `sizes` are the numbers named at its top, by letter; `names` what the file itself calls them.
    """

    exercise: str
    source: str
    blanks: tuple[Blank, ...]
    sizes: Mapping[str, int]
    names: Mapping[str, str]

    @classmethod
    def restore(cls, data: Mapping[str, Any]) -> Sheet:
        """What `dataclasses.asdict` made of one, from JSON and back."""
        blanks = tuple(Blank(**row) for row in data["blanks"])
        return cls(data["exercise"], data["source"], blanks, data["sizes"], data["names"])


def make_sheet(seed: int, exercise: str | None = None) -> Sheet:
    """A right answer to this exercise, or any, with a blank for every shape; same for same seed.

    Raises UsageError for an exercise that cannot be had.
    """
    order = random.Random(f"sheets {seed} {exercise}")
    style = _draw_roomy(order, exercise)
    two = len(style.contract.inputs) > 1
    sizes = draw_sizes(order, two)
    first, *rest = write(style)
    lines = [first, Line("#"), *(Line(f"# {text}") for text in _legend(style, sizes)), *rest]
    written, blanks = [], []
    for number, line in enumerate(lines, 1):
        marked = _mark(line)
        if marked is not line:
            name = line.text.partition(" = ")[0].strip()
            blanks.append(Blank(number, line.text.strip(), name, _wanted(line, two)))
        written.append(marked)
    return Sheet(style.exercise, as_text(written), tuple(blanks), sizes, _names(style, rest))


def _draw_roomy(order: random.Random, exercise: str | None) -> Style:
    """A style in which the blanks stand beside their lines: all of them, or as many as can be had.

    Without comments, since what stands behind a line is the candidate's.
    """
    best: tuple[int, Style] | None = None
    for _ in range(STYLES):
        style = draw(order, exercise)
        style = replace(style, manner=replace(style.manner, comments={}))
        for named in (style, *(style.renamed(order) for _ in range(NAMINGS))):
            lines = write(named)
            cramped = sum(bool(line.axes) and _mark(line) is line for line in lines)
            if fits(lines) and (best is None or cramped < best[0]):
                best = (cramped, named)
        if best is not None and not best[0]:
            break
    assert best is not None
    return best[1]


def _mark(line: Line) -> Line:
    """The line with a blank, where it has a shape and room for it."""
    mark = MARK_EACH if line.axes.startswith("each ") else MARK
    text = line.text + mark + BLANK
    return replace(line, text=text) if line.axes and len(text) <= WIDTH else line


def _wanted(line: Line, two: bool) -> str:
    axes = line.axes.removeprefix("each ").split()
    return write_axes(axes if two else [one.replace("Lq", "L").replace("Lk", "L") for one in axes])


def _legend(style: Style, sizes: Mapping[str, int]) -> list[str]:
    """What goes in, in letters and in numbers."""

    def say(name: str, *axes: str) -> str:
        numbers = ", ".join(str(sizes[axis]) for axis in axes)
        return f"{style.fill(name)}: [{', '.join(axes)}] = [{numbers}]"

    if len(style.contract.inputs) == 1:
        inputs = [say("$x", "B", "L", "D")]
    else:
        inputs = [say("$query", "B", "Lq", "D"), say("$key, $value", "B", "Lk", "D")]
    masks = [say("$mask", "B", "L")] if style.builds_mask else []
    return [*inputs, *masks, f"H = {sizes['H']}, Dh = D / H = {sizes['Dh']}"]


def _names(style: Style, lines: list[Line]) -> dict[str, str]:
    """What this file calls the sizes: its arguments, its attributes, and what it unpacks."""
    named = {style.names[role]: letter for role, letter in SIZES.items()}
    unpacked = (line.text.partition("=")[0] for line in lines if UNPACKED.search(line.text))
    words = set(re.findall(r"\w+", " ".join(unpacked)))
    own = LENGTHS[len(style.contract.inputs)]
    return named | {style.names[one]: one for one in own if style.names[one] in words}
