"""JSON Lines: an object on a line for each submission, the same as in the array of `json`."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from grader.exports.as_json import describe
from grader.model import Graded
from grader.reports.as_json import to_json
from grader.reports.view import PLAIN, View
from grader.texts import Texts


def render(graded: Collection[Graded], texts: Texts, view: View = PLAIN) -> Iterator[str]:
    """A line for each."""
    for one in graded:
        yield to_json(describe(one, texts, view)) + "\n"
