"""JSON: an array of reports, each with whose it is; docs/report.md describes its fields."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from grader.model import Graded
from grader.reports import as_json
from grader.reports.as_json import to_json
from grader.reports.view import PLAIN, View
from grader.texts import Texts


def render(graded: Sequence[Graded], texts: Texts, view: View = PLAIN) -> str:
    """One array, an object a line."""
    lines = ",\n".join(to_json(describe(one, texts, view)) for one in graded)
    return f"[\n{lines}\n]\n" if graded else "[]\n"


def describe(graded: Graded, texts: Texts, view: View = PLAIN) -> dict[str, Any]:
    """Whose it is, then the report's own fields."""
    whose = {
        "student": graded.student,
        "name": graded.name,
        "attempt": graded.attempt,
        "at": graded.at,
    }
    return whose | as_json.describe(graded.report, texts, view)
