"""PrairieLearn: results.json of one submission, at most 1 MB of it.

A file that cannot be graded is `gradable: false`, which costs the student no attempt.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from grader.exports.rows import Row, rows
from grader.model import Graded, Outcome
from grader.model.report import UNCHARGED
from grader.reports import as_terminal
from grader.reports.as_json import to_json
from grader.reports.view import PLAIN, View
from grader.texts import Texts

# A hundred rows of as many characters, each at worst a six-byte escape, stay below the 1 MB.
MAX_MESSAGE, MAX_OUTPUT = 600, 30_000


def render(graded: Graded, texts: Texts, view: View = PLAIN) -> str:
    """The score from 0 to 1, the report for people, a row for each case that counts."""
    report = graded.report
    if report.refusal is not None:
        said = texts.say(report.refusal)
        return to_json({"gradable": False, "format_errors": [said]}, indent=1) + "\n"
    found = list(rows(report, texts, view))
    # Students read this, so the seed is left out whoever the report is for.
    output = as_terminal.render(replace(report, seed=None), texts, view)
    result = {
        "gradable": True,
        "score": round(report.score / report.max_score, 4),
        "message": _say_errors(found),
        "output": output[:MAX_OUTPUT],
        "tests": [_test(row) for row in found if row.verdict.outcome not in UNCHARGED],
    }
    return to_json(result, indent=1) + "\n"


def _say_errors(found: list[Row]) -> str:
    """The rows that cost nothing because the grader failed on them."""
    errors = [row for row in found if row.verdict.outcome is Outcome.ERROR]
    return "\n".join(f"{row.verdict.case}: {row.sentence}" for row in errors)[:MAX_MESSAGE]


def _test(row: Row) -> dict[str, Any]:
    return {
        "name": row.verdict.case,
        "description": row.area,
        "points": row.verdict.points,
        "max_points": row.verdict.max_points,
        "message": row.text[:MAX_MESSAGE],
    }
