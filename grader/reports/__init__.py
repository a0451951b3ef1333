"""Formats: each a pure function from a Report to text, in a file of its own."""

from collections.abc import Callable

from grader.model import Report
from grader.reports import as_json, as_terminal
from grader.reports.view import PLAIN, View
from grader.texts import Texts

__all__ = ["FORMATS", "PLAIN", "View"]

Render = Callable[[Report, Texts, View], str]


def _render_page(report: Report, texts: Texts, view: View = PLAIN) -> str:
    # Imported here: the terminal needs none of it.
    from grader.reports.html import render

    return render(report, texts, view)


FORMATS: dict[str, Render] = {
    "terminal": as_terminal.render,
    "json": as_json.render,
    "html": _render_page,
}
