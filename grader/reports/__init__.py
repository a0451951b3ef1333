"""Formats: each a pure function from a Report to text, in a file of its own."""

from collections.abc import Callable

from grader.model import Report
from grader.reports import as_json, as_terminal, html
from grader.reports.view import PLAIN, View
from grader.texts import Texts

__all__ = ["FORMATS", "PLAIN", "View"]

Render = Callable[[Report, Texts, View], str]

FORMATS: dict[str, Render] = {
    "terminal": as_terminal.render,
    "json": as_json.render,
    "html": html.render,
}
