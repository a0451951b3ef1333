"""Moodle: the offline grading worksheet that the teacher downloaded, with its grades filled.

Its column names are in the language of the site, so only the grade's is asked for; the others are
found by their place, which Moodle fixes: the identifier first, then who it is, the grade, and the
maximum right after it (mod/assign/feedback/offline).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from grader.errors import UsageError
from grader.exports.gradebook import (
    Entry,
    Filled,
    fill,
    normalise_all,
    read_points,
    uses_comma,
)
from grader.exports.sheet import Sheet, read_sheet
from grader.model import Graded

GRADE = "Grade"
# "Participant 12", whatever the word for it is.
IDENTIFIER = re.compile(r".*?(\d+)")
# In "Grade can be changed". In other languages it is left to Moodle, which skips such rows too.
LOCKED = "no"


def fill_moodle(raw: bytes, graded: Iterable[Graded], column: str = GRADE) -> Filled:
    """The worksheet with the scores in `column`, scaled to each row's maximum.

    Raises UsageError for another kind of file, a column that is not there or there twice, and a
    maximum that is no number (a scale).
    """
    sheet = read_sheet(raw)
    found = [at for at, name in enumerate(sheet.header) if name == column.strip()]
    if len(found) != 1:
        key = "gradebook.several-columns" if found else "gradebook.no-column"
        raise UsageError(key, wanted=column, known=", ".join(sheet.header))
    (at,) = found
    if not at or not all(IDENTIFIER.fullmatch(line.value(0)) for line in sheet.rows):
        raise UsageError("gradebook.not-moodle", header=", ".join(sheet.header[:5]))
    comma = uses_comma(sheet, [at, at + 1])
    return fill(sheet, at, list(_entries(sheet, at, comma)), graded, comma)


def _entries(sheet: Sheet, grade: int, comma: bool) -> Iterator[Entry]:
    for line in sheet.rows:
        number = IDENTIFIER.fullmatch(line.value(0))
        whose = [line.value(at) for at in range(grade)]
        yield Entry(
            line,
            normalise_all([*whose, number[1] if number else ""]),
            normalise_all(whose),
            read_points(line.value(grade + 1), line.value(0), comma),
            is_locked=line.value(grade + 2).casefold() == LOCKED,
        )
