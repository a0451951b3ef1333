"""Filling a downloaded gradebook: who is in which row, and how a grade is written there."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import NamedTuple

from grader.errors import UsageError
from grader.exports.sheet import Line, Sheet
from grader.model import Graded, Report

CENT = Decimal("0.01")
# What became of a submission: the fields of Filled.
LISTS = ("filled", "unmatched", "ambiguous", "kept", "failed")
# "1,000" may be a thousand, so three digits behind a mark prove nothing.
DECIMAL = re.compile(r"\d+([.,])(?!\d{3}$)\d+")


@dataclass(frozen=True)
class Entry:
    """A student's row: normalised ids and names, the points to be had, whether it may be filled."""

    line: Line
    ids: frozenset[str]
    names: frozenset[str]
    possible: Decimal
    is_locked: bool = False

    @property
    def label(self) -> str:
        """What a teacher finds the row by."""
        return self.line.value(0)


@dataclass(frozen=True)
class Filled:
    """The filled file, and what a teacher must know about it; no submission is lost on the way.

    Students are named by their ids. `unmatched`: no row has this student. `ambiguous`: several rows
    do, or several submissions belong to one row; nothing was written. `kept`: the row is locked or
    excused. `failed`: the grader itself failed on the whole file, so there is no score.
    `without`: the first cells of rows that nobody's submission belongs to.
    """

    content: bytes
    filled: tuple[str, ...]
    unmatched: tuple[str, ...]
    ambiguous: tuple[str, ...]
    kept: tuple[str, ...]
    failed: tuple[str, ...]
    without: tuple[str, ...]


class Claim(NamedTuple):
    """A submission's claim to a row: what a teacher knows it by, and its share of the points."""

    label: str
    share: Decimal


def normalise(text: str) -> str:
    """For comparing only: composed characters, small letters, single blanks."""
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def normalise_all(texts: Iterable[str]) -> frozenset[str]:
    """The same for several, empty ones left out."""
    return frozenset(filter(None, map(normalise, texts)))


def fill(
    sheet: Sheet, column: int, entries: Sequence[Entry], graded: Iterable[Graded], comma: bool
) -> Filled:
    """Write each score into its student's row, scaled to the row's points; change nothing else."""
    claims: defaultdict[int, list[Claim]] = defaultdict(list)
    listed: dict[str, list[str]] = {name: [] for name in LISTS}
    by_id = _index(entry.ids for entry in entries)
    by_name = _index(entry.names for entry in entries)
    for one in graded:
        claim = Claim(one.student or one.name, _share(one.report))
        if one.report.refusal and one.report.has_errors:
            listed["failed"].append(claim.label)
            continue
        # An id that stands in two rows, even in different columns, is nobody's.
        found = by_id.get(normalise(one.student)) or by_name.get(normalise(one.name), [])
        if len(found) == 1:
            claims[found[0]].append(claim)
        else:
            listed["ambiguous" if found else "unmatched"].append(claim.label)
    for at, entry in enumerate(entries):
        labels = [claim.label for claim in claims[at]]
        if len(labels) > 1:
            listed["ambiguous"] += labels
        elif labels and entry.is_locked:
            listed["kept"] += labels
        elif labels:
            grade = _write_grade(claims[at][0].share * entry.possible, comma)
            sheet.put(entry.line, column, grade)
            listed["filled"] += labels
    without = tuple(entry.label for at, entry in enumerate(entries) if not claims[at])
    lists = {name: tuple(labels) for name, labels in listed.items()}
    return Filled(content=sheet.write(), without=without, **lists)


def _index(keys: Iterable[frozenset[str]]) -> dict[str, list[int]]:
    """The rows of each key."""
    index: defaultdict[str, list[int]] = defaultdict(list)
    for at, names in enumerate(keys):
        for name in names:
            index[name].append(at)
    return index


def _share(report: Report) -> Decimal:
    return Decimal(str(report.score)) / Decimal(str(report.max_score))


def _write_grade(grade: Decimal, comma: bool) -> str:
    text = format(grade.quantize(CENT, ROUND_HALF_UP), "f").rstrip("0").rstrip(".")
    return text.replace(".", ",") if comma else text


def uses_comma(sheet: Sheet, columns: Iterable[int]) -> bool:
    """True where the file's own numbers have a decimal comma; `columns` are asked first."""
    for cells in (list(_cells(sheet, columns)), list(_cells(sheet, range(len(sheet.header))))):
        marks = [found[1] for cell in cells if (found := DECIMAL.fullmatch(cell))]
        if marks:
            return marks.count(",") > marks.count(".")
    return False


def _cells(sheet: Sheet, columns: Iterable[int]) -> Iterator[str]:
    wanted = list(columns)
    return (line.value(at) for line in sheet.rows for at in wanted)


def read_points(text: str, name: str, comma: bool) -> Decimal:
    """A number of points above 0; raises UsageError for anything else, naming where it stood."""
    plain = re.sub(r"[\s'’]", "", text)
    point = _decimal_mark(plain, comma)
    plain = re.sub("[.,]", lambda mark: "." if mark[0] == point else "", plain)
    if not re.fullmatch(r"[0-9]+(\.[0-9]+)?", plain) or not Decimal(plain):
        raise UsageError("gradebook.no-maximum", name=name, got=text)
    return Decimal(plain)


def _decimal_mark(number: str, comma: bool) -> str:
    """The mark that is no thousands separator: the number's own form says, or else the file."""
    marks = re.findall("[.,]", number)
    if len(set(marks)) > 1:
        return str(marks[-1])
    if len(marks) > 1:
        return ""
    found = DECIMAL.fullmatch(number)
    return found[1] if found else "," if comma else "."
