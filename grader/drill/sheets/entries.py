"""Judges what a candidate wrote into the blanks of a sheet."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import Enum

from grader.drill.sheets.shapes import read_shape
from grader.drill.sheets.sheet import Blank, Sheet

# Of a file larger than this nothing is read.
LARGEST = 100_000
LABEL = re.compile(r"^\s*(?:shape(?:\s+of\s+each)?\s*[:：=]?)?\s*_*", re.IGNORECASE)


class State(str, Enum):
    """What became of a blank; `GONE` where its line was changed or removed."""

    RIGHT = "right"
    WRONG = "wrong"
    UNFILLED = "unfilled"
    UNREADABLE = "unreadable"
    GONE = "gone"


@dataclass(frozen=True)
class Entry:
    """What stands in one blank: its line in the candidate's file, the true shape and the one given.

    Where the line is gone, `line` is that of the sheet.
    """

    line: int
    name: str
    wanted: str
    given: str
    state: State

    @property
    def right(self) -> bool:
        """True for the true shape, however it is written."""
        return self.state is State.RIGHT


def check(sheet: Sheet, text: str) -> tuple[Entry, ...]:
    """An entry for every blank of the sheet, from the file as it came back."""
    lines = text.split("\n") if len(text) <= LARGEST else []
    places = _align(sheet.source.split("\n"), lines)
    return tuple(_enter(sheet, blank, lines, places.get(blank.line)) for blank in sheet.blanks)


def _enter(sheet: Sheet, blank: Blank, lines: Sequence[str], line: int | None) -> Entry:
    if line is None:
        return Entry(blank.line, blank.name, blank.wanted, "", State.GONE)
    comment = lines[line - 1].partition("#")[2]
    given = LABEL.sub("", comment).strip().rstrip("_").strip()
    return Entry(line, blank.name, blank.wanted, given, _judge(sheet, blank, given))


def _judge(sheet: Sheet, blank: Blank, given: str) -> State:
    if not given:
        return State.UNFILLED
    two = "Lq" in sheet.sizes
    axes = read_shape(given, sheet.names, two)
    wanted = read_shape(blank.wanted, {}, two)
    assert wanted is not None
    if axes is None:
        return State.UNREADABLE
    alike = len(axes) == len(wanted) and all(
        one.equals(other, sheet.sizes) for one, other in zip(axes, wanted)
    )
    return State.RIGHT if alike else State.WRONG


def _align(before: Sequence[str], after: Sequence[str]) -> dict[int, int]:
    """Line of the sheet -> line of the file with the same code, comments and spaces aside."""
    first, second = (
        ["".join(line.partition("#")[0].split()) for line in side] for side in (before, after)
    )
    matcher = SequenceMatcher(None, first, second, autojunk=False)
    return {
        one.a + n + 1: one.b + n + 1
        for one in matcher.get_matching_blocks()
        for n in range(one.size)
        if first[one.a + n]
    }
