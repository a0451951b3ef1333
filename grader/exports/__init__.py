"""Exports: what other systems read, each a pure function in a file of its own.

`EXPORTS` take a whole batch and give text piece by piece, so that no more than one report need be
in memory; the batch is gone through more than once. `HOSTS` take one submission, `GRADEBOOKS` a
batch and the file that the teacher downloaded. Reading, writing and printing are the caller's. The
HTML page of a batch is made where that of a report is, in grader/reports/html/.

What students are to see goes through `for_students` first: exports write all that they are given.
"""

from collections.abc import Callable, Collection, Iterable, Iterator

from grader.exports import (
    as_check50,
    as_classroom,
    as_csv,
    as_gradescope,
    as_json,
    as_jsonl,
    as_junit,
    as_prairielearn,
)
from grader.exports.gradebook import Filled
from grader.exports.into_canvas import fill_canvas
from grader.exports.into_moodle import fill_moodle
from grader.exports.packs import PACKS, Pack
from grader.exports.sight import Sight, Visibility
from grader.exports.visible import for_students
from grader.model import Graded
from grader.reports.html import course
from grader.reports.view import View
from grader.texts import Texts

__all__ = [
    "EXPORTS",
    "GRADEBOOKS",
    "HOSTS",
    "PACKS",
    "Filled",
    "Pack",
    "Sight",
    "Visibility",
    "for_students",
]

RenderBatch = Callable[[Collection[Graded], Texts, View], Iterator[str]]
RenderOne = Callable[[Graded, Texts, View], str]
Fill = Callable[[bytes, Iterable[Graded], str], Filled]

EXPORTS: dict[str, RenderBatch] = {
    "array": as_json.render,
    "jsonl": as_jsonl.render,
    "csv": as_csv.render,
    "junit": as_junit.render,
    "html": course.render,
}
HOSTS: dict[str, RenderOne] = {
    "gradescope": as_gradescope.render,
    "classroom": as_classroom.render,
    "check50": as_check50.render,
    "prairielearn": as_prairielearn.render,
}
GRADEBOOKS: dict[str, Fill] = {"canvas": fill_canvas, "moodle": fill_moodle}
