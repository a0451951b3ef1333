"""JSON: an array of reports, each with whose it is; docs/report.md describes its fields."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from grader.model import Graded
from grader.reports import as_json
from grader.reports.as_json import to_json
from grader.reports.view import PLAIN, View
from grader.texts import Texts


def render(graded: Collection[Graded], texts: Texts, view: View = PLAIN) -> Iterator[str]:
    """One array, an object a line."""
    mark = "["
    for one in graded:
        yield f"{mark}\n{to_json(describe(one, texts, view))}"
        mark = ","
    yield "[]\n" if mark == "[" else "\n]\n"


def describe(graded: Graded, texts: Texts, view: View = PLAIN) -> dict[str, Any]:
    """Whose it is, then the report's own fields."""
    whose = {
        "student": graded.student,
        "name": graded.name,
        "attempt": graded.attempt,
        "at": graded.at,
    }
    return whose | as_json.describe(graded.report, texts, view)
