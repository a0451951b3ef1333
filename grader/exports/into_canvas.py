"""Canvas: the gradebook that the teacher exported, with one assignment's column filled.

The rules are those of Canvas's own importer (lib/gradebook_importer.rb).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal

from grader.errors import UsageError
from grader.exports.gradebook import (
    Entry,
    Filled,
    fill,
    normalise,
    normalise_all,
    read_points,
    uses_comma,
)
from grader.exports.sheet import Line, Sheet, read_sheet
from grader.model import Graded

IDS = ("ID", "SIS User ID", "SIS Login ID")
NAMES = (["Student"], ["LastName", "FirstName"])
SECTION = "Section"
POINTS, READ_ONLY, EXCUSED = "points possible", "read only", "ex"
# Rows between the header and the students that say nothing about anyone.
NOTICES = {"", "muted", "manual posting"}
UNSAID = Decimal(100)


def fill_canvas(raw: bytes, graded: Iterable[Graded], column: str) -> Filled:
    """The export with the scores in `column`: its title, its id, or both as the header has them.

    Scores are scaled to Points Possible, or stay out of 100 where the file does not say. Raises
    UsageError for another kind of file, and for a column that is not there, not to be written or
    not the only one of that name.
    """
    sheet = read_sheet(raw)
    header = sheet.header
    names = next((kind for kind in NAMES if kind == header[: len(kind)]), None)
    if names is None and not re.search(r"\bStudent\b", header[0]):
        raise UsageError("gradebook.not-canvas", header=", ".join(header[:5]))
    width = len(names or NAMES[0])
    if "ID" not in header[width : width + 1] or not _sections(header):
        raise UsageError("gradebook.not-canvas", header=", ".join(header[:5]))
    at = _find_column(header, column)
    comma = uses_comma(sheet, [at])
    possible = _read_possible(sheet, at, comma)
    entries = list(_entries(sheet, width, at, possible))
    return fill(sheet, at, entries, graded, comma)


def _sections(header: Sequence[str]) -> list[int]:
    return [at for at, name in enumerate(header) if SECTION in name]


def _find_column(header: Sequence[str], column: str) -> int:
    """An assignment's column: they stand behind the section."""
    known = range(_sections(header)[0] + 1, len(header))
    wanted = re.escape(column.strip())
    exact = [at for at in known if header[at] == column.strip()]
    loose = rf"{wanted}\s*\(\d+\)|.*\({wanted}\)"
    found = exact or [at for at in known if re.fullmatch(loose, header[at])]
    if len(found) != 1:
        key = "gradebook.several-columns" if found else "gradebook.no-column"
        raise UsageError(key, wanted=column, known=", ".join(header[at] for at in known))
    return found[0]


def _read_possible(sheet: Sheet, column: int, comma: bool) -> Decimal:
    for line in sheet.rows:
        if _is_points(line):
            text, name = line.value(column), sheet.header[column]
            if READ_ONLY in text.casefold():
                raise UsageError("gradebook.read-only", name=name)
            return read_points(text, name, comma)
    return UNSAID


def _is_points(line: Line) -> bool:
    return POINTS in line.value(0).casefold()


def _entries(sheet: Sheet, width: int, column: int, possible: Decimal) -> Iterator[Entry]:
    ids = [at for at, name in enumerate(sheet.header) if name in IDS]
    for line in sheet.rows:
        if _is_points(line) or {normalise(cell.value) for cell in line.cells} <= NOTICES:
            continue
        yield Entry(
            line,
            normalise_all(line.value(at) for at in ids),
            normalise_all(_names(*(line.value(at) for at in range(width)))),
            possible,
            is_locked=line.value(column).casefold() == EXCUSED,
        )


def _names(last: str, first: str = "") -> list[str]:
    """A name as it stands there, and with the first name in front."""
    if not first:
        last, _, first = last.partition(",")
    return [f"{last}, {first}", f"{first} {last}"] if first else [last]
