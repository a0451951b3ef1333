"""GitHub Classroom: the two notices it reads points from, and the result of a grading step.

The notices alone are enough for a workflow that Classroom knows. The line `result=` belongs into
the file that GITHUB_OUTPUT names; the reporter action reads it from there. A step appends that line
and prints the notices (packs/files/action.yml does).
"""

from __future__ import annotations

import base64
import functools
import operator
from collections.abc import Iterator, Sequence
from typing import Any

from grader.exports.rows import Row, file_of, rows
from grader.model import Graded, Outcome, Report, Verdict
from grader.reports.as_json import to_json
from grader.reports.escape import for_log
from grader.reports.view import PLAIN, View
from grader.texts import Texts

VERSION = 1
# The reporter gets the result as one environment variable, of which Linux allows 128 KiB.
MAX_RESULT = 120 << 10
# How long a test's texts may be; GitHub's own graders cut at 500. The first that fits is taken.
CUTS = (500, 200, 60, 0)
STATUS = {
    Outcome.PASSED: "pass",
    Outcome.FAILED: "fail",
    Outcome.SKIPPED: "fail",
    Outcome.ERROR: "error",
}


def render(graded: Graded, texts: Texts, view: View = PLAIN) -> str:
    """Three lines: two notices, and `result=` with the result in base64."""
    return f"{write_notices(graded.report)}result={encode_result(graded, texts, view)}\n"


def write_notices(report: Report) -> str:
    """The workflow commands, as the reporter action writes them."""
    score, possible = _number(report.score), _number(report.max_score)
    summary = f'{{"totalPoints":{score},"maxPoints":{possible}}}'
    return (
        f"::notice title=Autograding complete::Points {score}/{possible}\n"
        f"::notice title=Autograding report::{summary}\n"
    )


def encode_result(graded: Graded, texts: Texts, view: View = PLAIN) -> str:
    """Base64 of the JSON object that a grading step hands to the reporter."""
    for cut in CUTS:
        encoded = base64.b64encode(to_json(describe(graded, texts, view, cut)).encode())
        if len(encoded) <= MAX_RESULT:
            break
    return encoded.decode()


def describe(
    graded: Graded, texts: Texts, view: View = PLAIN, cut: int = CUTS[0]
) -> dict[str, Any]:
    """The object: `pass` only where every case passed, `error` where the grader itself failed.

    Of each text the first `cut` characters.
    """
    report = graded.report
    status = "pass" if report.all_passed else "error" if report.has_errors else "fail"
    described: dict[str, Any] = {
        "version": VERSION,
        "status": status,
        "max_score": _number(report.max_score),
        "tests": list(_tests(report, texts, view, cut)),
    }
    if report.refusal is not None:
        said = for_log(texts.say(report.refusal))[:cut]
        line = report.refusal.fields.get("line") or 0
        described["message"] = said
        described["tests"] = [
            _test(texts("heading.refused"), "load", status, 0, report, line) | {"message": said}
        ]
    return described


def _tests(report: Report, texts: Texts, view: View, cut: int) -> Iterator[dict[str, Any]]:
    judged = [row for row in rows(report, texts, view) if row.verdict.outcome in STATUS]
    for row, score in zip(judged, _share_out(report, [row.verdict for row in judged])):
        yield _describe_row(row, score, report, cut)


def _share_out(report: Report, verdicts: Sequence[Verdict]) -> list[float]:
    """What each earned of the report's score; added up as the reporter does, they are the score."""
    possible = sum(v.max_points for v in verdicts if v.outcome is not Outcome.ERROR)
    unit = report.max_score / possible if possible else 0.0
    scores = [round(unit * v.points, 2) for v in verdicts]
    last = max((at for at, score in enumerate(scores) if score), default=0)
    # What was rounded away, and what floating point loses in a sum.
    if scores:
        scores[last] = report.score - functools.reduce(operator.add, scores[:last], 0.0)
    return scores


def _describe_row(row: Row, score: float, report: Report, cut: int) -> dict[str, Any]:
    verdict = row.verdict
    name = f"{row.area}: {verdict.case}"
    test = _test(name, verdict.case, STATUS[verdict.outcome], score, report, row.line)
    if row.sentence:
        test["message"] = for_log(row.sentence)[:cut]
    if row.notes:
        test["output"] = for_log(" ".join(row.notes))[:cut]
    return test


def _test(
    name: str, code: str, status: str, score: float, report: Report, line: int
) -> dict[str, Any]:
    return {
        "name": for_log(name),
        "status": status,
        "score": score,
        "test_code": code,
        "filename": for_log(file_of(report)),
        "line_no": line,
        "duration": 0,
    }


def _number(value: float) -> float:
    """A whole number as such: the format asks for integers where there are some."""
    return int(value) if value == int(value) else value
