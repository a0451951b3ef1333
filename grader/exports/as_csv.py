"""CSV: a row for each submission, for spreadsheets and statistics; columns are ids, not words."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

from grader.exports.escape import for_cell
from grader.model import Graded, Outcome
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
    "mistakes",
)


def render(graded: Sequence[Graded], texts: Texts, view: View = PLAIN) -> str:
    """A header, then the rows; areas that a submission does not have stay empty."""
    areas = list(dict.fromkeys(area for one in graded for area in one.report.areas))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*FIXED, *areas])
    for one in graded:
        row = _describe(one)
        earned = [float(one.report.earned(a)) if a in one.report.areas else "" for a in areas]
        writer.writerow([for_cell(cell) for cell in (*(row[name] for name in FIXED), *earned)])
    return out.getvalue()


def _describe(graded: Graded) -> dict[str, Any]:
    report = graded.report
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
        "errors": sum(v.outcome is Outcome.ERROR for v in report.verdicts),
        "mistakes": " ".join(found.mistake for found in report.diagnosis.mistakes),
    }
