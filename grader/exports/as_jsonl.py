"""JSON Lines: an object on a line for each submission, the same as in the array of `json`."""

from __future__ import annotations

from collections.abc import Sequence

from grader.exports.as_json import describe
from grader.model import Graded
from grader.reports.as_json import to_json
from grader.reports.view import PLAIN, View
from grader.texts import Texts


def render(graded: Sequence[Graded], texts: Texts, view: View = PLAIN) -> str:
    """A line for each."""
    return "".join(to_json(describe(one, texts, view)) + "\n" for one in graded)
