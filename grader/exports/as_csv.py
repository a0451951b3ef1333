"""CSV: a row for each submission, for spreadsheets and statistics; columns are ids, not words."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from grader.clean import clean
from grader.model import Graded, Outcome
from grader.reports.escape import for_csv
from grader.reports.view import PLAIN, View
from grader.texts import Texts

FIXED = (
    "student",
    "name",
    "attempt",
    "at",
    "file",
    "exercise",
    "score",
    "max_score",
    "passed",
    "refusal",
    "errors",
    "unjudged",
    "flags",
    "mistakes",
)
MAX_CELL = 2000


def render(graded: Collection[Graded], texts: Texts, view: View = PLAIN) -> Iterator[str]:
    """A header, then the rows; areas that a submission does not have stay empty."""
    areas = list(dict.fromkeys(area for one in graded for area in one.report.areas))
    yield _write([*FIXED, *areas])
    for one in graded:
        row, report = _describe(one), one.report
        earned = [float(report.earned(a)) if a in report.areas else "" for a in areas]
        yield _write([*(row[name] for name in FIXED), *earned])


def _write(cells: Iterable[object]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow([_escape(cell) for cell in cells])
    return out.getvalue()


def _escape(cell: object) -> object:
    return for_csv(clean(cell, MAX_CELL)) if isinstance(cell, str) else cell


def _describe(graded: Graded) -> dict[str, Any]:
    report = graded.report
    errors = sum(v.outcome is Outcome.ERROR for v in report.verdicts)
    return {
        "student": graded.student,
        "name": graded.name,
        "attempt": graded.attempt,
        "at": graded.at,
        "file": report.submission.path,
        "exercise": report.exercise,
        "score": report.score,
        "max_score": report.max_score,
        "passed": str(report.all_passed).lower(),
        "refusal": report.refusal.key if report.refusal else "",
        "errors": errors or int(report.has_errors),
        "unjudged": str(report.is_unjudged).lower(),
        "flags": " ".join(word for word, _ in report.flags),
        "mistakes": " ".join(found.mistake for found in report.diagnosis.mistakes),
    }
