"""The two documents there are: the page itself, and the report of a file."""

from __future__ import annotations

import functools
from pathlib import Path

from grader.drill.desk import Desk
from grader.drill.folder import file_of
from grader.drill.model import GRADED, LOOKED_UP
from grader.drill.web.draft import name_version
from grader.drill.web.room import Room
from grader.errors import UnusableSubmission, WorkerError
from grader.intake import read_submission
from grader.model import Report
from grader.reports import FORMATS, View
from grader.reports.escape import for_html
from grader.texts import Texts

STATIC = Path(__file__).with_name("static")
# A report has a policy of its own in its head, which is narrower; nothing in it may run.
REPORT_POLICY = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'self'"
)
# While the drill is open a report gives no page of a mistake away; afterwards all of it.
OPEN, CLOSED = View(hints=0), View(hints=3)
TAGS = {"zh": "zh-Hans"}


def write_first_page(texts: Texts, nonce: str) -> str:
    """The page without any data; `nonce` lets the editor's style sheet in."""
    tag = TAGS.get(texts.language, texts.language)
    fields = {"lang": tag, "nonce": nonce, "noscript": texts("drill.web.noscript")}
    page = _read("index.html")
    for name, value in fields.items():
        page = page.replace(f"{{{name}}}", for_html(value))
    return page


def write_report(room: Room, desk: Desk) -> str | None:
    """The report on the last save as a document; None unless it was looked up or the drill ended.

    Looking it up is noted by an act of its own, so that loading a page again counts nothing.
    """
    look = desk.look()
    is_finished = desk.is_finished
    if look is None or look.report is None or not (is_finished or _is_looked_up(desk)):
        return None
    view = CLOSED if is_finished else OPEN
    return FORMATS["html"](_picture(room, desk, look.report), desk.texts, view)


def _is_looked_up(desk: Desk) -> bool:
    """True where the last save was looked up."""
    marked = [event.what for event in desk.events() if event.what in (GRADED, LOOKED_UP)]
    return marked[-1:] == [LOOKED_UP]


def _picture(room: Room, desk: Desk, report: Report) -> Report:
    """With its pictures, as long as the file is still the one that was graded."""
    try:
        submission = read_submission(file_of(desk.drill))
        is_same = name_version(submission.source) == report.submission.sha256
        return room.picture(desk, submission) if is_same else report
    except (UnusableSubmission, WorkerError):
        return report


@functools.cache
def _read(name: str) -> str:
    return (STATIC / name).read_text(encoding="utf-8")
