"""Gradescope: results.json of one submission.

Every row is visible: one hidden row would hide the student's total. What students are not to see
is taken out of the report before (see visible.py).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from grader.exports.rows import Row, rows
from grader.model import Graded, Message, Outcome
from grader.model.report import UNCHARGED
from grader.reports import as_terminal
from grader.reports.as_json import to_json
from grader.reports.view import PLAIN, View
from grader.texts import Texts


def render(graded: Graded, texts: Texts, view: View = PLAIN) -> str:
    """The score out of 100, the report for people, a row for each case."""
    report = graded.report
    tests = [_test(row) for row in rows(report, texts, view)]
    if report.refusal is not None:
        tests = [refused(report.refusal, texts)]
        if report.has_errors:
            del tests[0]["status"]
    # Students read this, so the seed is left out whoever the report is for.
    output = as_terminal.render(replace(report, seed=None), texts, view)
    return write(report.score, output, tests, {"execution_time": round(report.seconds, 3)})


def write(score: float, output: str, tests: list[dict[str, Any]], more: dict[str, Any]) -> str:
    """A whole results.json; texts are shown as they are, never as markup."""
    formats = ("output_format", "test_output_format", "test_name_format")
    return to_json(
        {
            "score": score,
            **more,
            "output": output,
            **dict.fromkeys(formats, "text"),
            "visibility": "visible",
            # What the run prints is for the instructor: the seed may be there.
            "stdout_visibility": "hidden",
            "tests": tests,
        },
        indent=1,
    )


def refused(message: Message, texts: Texts) -> dict[str, Any]:
    """The one row of a file that cannot be graded."""
    return {
        "name": texts("heading.refused"),
        "status": "failed",
        "output": texts.say(message),
    }


def _test(row: Row) -> dict[str, Any]:
    verdict = row.verdict
    told = {"name": f"{row.area}: {verdict.case}", "output": row.text, "tags": [verdict.area]}
    if verdict.outcome in UNCHARGED:
        # No points on either side, and no status: nothing here is the student's fault.
        return told
    return told | {
        "score": verdict.points,
        "max_score": verdict.max_points,
        "status": "passed" if verdict.outcome is Outcome.PASSED else "failed",
    }
