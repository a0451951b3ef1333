"""check50's JSON of one submission: what its own renderers and CS50's site read."""

from __future__ import annotations

from typing import Any

from grader import __version__
from grader.exports.rows import Row, is_trouble, rows
from grader.model import Graded, Message, Outcome
from grader.reports.as_json import to_json
from grader.reports.view import PLAIN, View
from grader.texts import Texts

# None: it was not checked, or the checker failed.
PASSED = {Outcome.PASSED: True, Outcome.FAILED: False}


def render(graded: Graded, texts: Texts, view: View = PLAIN) -> str:
    """One object; a file that cannot be graded has `error` in the place of `results`."""
    report = graded.report
    slug = f"mha-grade/{report.exercise or 'unknown'}"
    if report.refusal is not None:
        found: dict[str, Any] = {"error": _refuse(report.refusal, texts)}
    else:
        found = {"results": [_result(row) for row in rows(report, texts, view)]}
    return to_json({"slug": slug, **found, "version": __version__}, indent=1) + "\n"


def _refuse(refusal: Message, texts: Texts) -> dict[str, Any]:
    said = texts.say(refusal)
    return {
        **_error(refusal.key, said),
        "actions": {"show_traceback": False, "message": said},
    }


def _result(row: Row) -> dict[str, Any]:
    verdict = row.verdict
    passed = PASSED.get(verdict.outcome)
    return {
        "name": verdict.case,
        "description": f"{row.area}: {verdict.case}",
        "passed": passed,
        "log": list(row.notes),
        "cause": None if passed else _cause(row),
        "data": {"points": verdict.points, "max_points": verdict.max_points},
        "dependency": _dependency(verdict.message),
    }


def _dependency(message: Message | None) -> str | None:
    """The case that this one waited for in vain."""
    return str(message.fields["case"]) if message and message.key == "skipped.after" else None


def _cause(row: Row) -> dict[str, Any]:
    message = row.verdict.message
    fields = dict(message.fields) if message else {}
    cause: dict[str, Any] = {
        "rationale": row.sentence,
        "help": row.notes[-1] if row.notes else None,
    }
    if {"got", "expected"} <= set(fields):
        cause |= {"expected": str(fields["expected"]), "actual": str(fields["got"])}
    if is_trouble(message):
        cause["error"] = _error(str(fields.get("type", message and message.key)), row.sentence)
    return cause


def _error(kind: str, value: str) -> dict[str, Any]:
    # No traceback: it would show more of this machine than of the file.
    return {"type": kind, "value": value, "traceback": [], "data": {}}
