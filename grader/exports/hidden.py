"""Hidden cases as one row: what they come to together, so that a score still adds up."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from grader.model import Message, Outcome, Report, Verdict
from grader.model.report import UNCHARGED, UNJUDGED

# The rows' area, and the rows: of cases that count, of those on which the grader failed, and of
# those that could not be judged, where that is what makes a score say little.
AREA, CASES, ERRORS, OPEN = "hidden", "hidden-cases", "hidden-errors", "hidden-unjudged"


def row_of(verdict: Verdict) -> str:
    """The id of the row that a hidden case goes into."""
    return ERRORS if verdict.outcome is Outcome.ERROR else CASES


def fold(hidden: Sequence[Verdict]) -> Iterator[Verdict]:
    """At most one row of each kind; what else does not apply counts nowhere and is left out."""
    counted = [v for v in hidden if v.outcome not in UNCHARGED]
    errors = [v for v in hidden if v.outcome is Outcome.ERROR]
    if counted:
        passed = all(v.outcome is Outcome.PASSED for v in counted)
        # As in a report, a message on what passed says that not all is right.
        spotless = passed and not any(v.message for v in counted)
        key = "hidden.passed" if passed else "hidden.failed"
        message = None if spotless else Message(key, {"count": len(counted)})
        yield _row(CASES, Outcome.PASSED if passed else Outcome.FAILED, counted, message)
    if errors:
        message = Message("hidden.errors", {"count": len(errors)})
        yield _row(ERRORS, Outcome.ERROR, errors, message)
    unjudged = [v for v in hidden if v.message and v.message.key == UNJUDGED]
    if unjudged:
        yield _row(OPEN, Outcome.NOT_APPLICABLE, unjudged, Message(UNJUDGED))


def divide(report: Report, hidden: Sequence[Verdict]) -> dict[str, float]:
    """The areas' points, those of hidden cases in an area of their own."""
    gone = {v.case for v in hidden}
    shown = {v.area for v in report.verdicts if v.case not in gone}
    areas = {
        area: round(points - _possible([v for v in hidden if v.area == area]), 4)
        for area, points in report.areas.items()
        if area in shown
    }
    rows = list(fold(hidden))
    return areas | ({AREA: round(_possible(rows), 4)} if rows else {})


def _row(case: str, outcome: Outcome, of: Sequence[Verdict], message: Message | None) -> Verdict:
    points = math.fsum(v.points for v in of)
    return Verdict(case, AREA, outcome, points, _possible(of), message)


def _possible(verdicts: Sequence[Verdict]) -> float:
    return math.fsum(v.max_points for v in verdicts)
