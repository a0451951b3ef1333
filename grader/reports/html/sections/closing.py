"""The end of the page: how to run this again, and with what it was made."""

from __future__ import annotations

import re
import shlex

from grader.clean import clean
from grader.model import Report
from grader.reports.html.element import Html, el, join
from grader.reports.html.page import scroll
from grader.texts import Texts

# As Python writes the names of what is in no file.
NOT_A_FILE = re.compile("<.*>")


def write_closing(report: Report, texts: Texts) -> Html:
    """Seed and command, time, versions; a student's report has no seed."""
    parts = []
    if report.seed is not None:
        title = texts("html.replay", seed=report.seed)
        command = el("pre", el("code", replay(report)), class_="command")
        parts += [el("p", title), scroll(title, command)]
    said = [texts("time", seconds=report.seconds)]
    if report.environment:
        said.append(texts("versions", **report.environment))
    parts.append(el("p", "  ·  ".join(said), class_="note"))
    return join(el("footer", *parts), Html("\n"))


def replay(report: Report) -> str:
    """The command that grades the same file in the same way, for a POSIX shell."""
    if NOT_A_FILE.fullmatch(report.submission.path):
        return _replay_call(report)
    judged = ["--free"] if report.is_free else ["--exercise", report.exercise]
    chosen = ["--class", name] if (name := _class_of(report)) else []
    wanted = judged if report.exercise else []
    path = clean(report.submission.path, 4096)
    # A name that begins with a hyphen would be taken for an option.
    path = f"./{path}" if path.startswith("-") else path
    return shlex.join(["mha-grade", path, *wanted, *chosen, "--seed", str(report.seed)])


def _replay_call(report: Report) -> str:
    """The same in the notebook that the class is in."""
    name = _class_of(report) or "..."
    exercise = "" if report.is_free else f", exercise={report.exercise!r}"
    return f"grade({name}{exercise}, seed={report.seed})"


def _class_of(report: Report) -> str:
    found = (m.fields for m in report.convention if m.key == "convention.class")
    return str(next((fields["name"] for fields in found), ""))
