"""The interviewer's next questions, in the terminal: the points of an answer only on request."""

from __future__ import annotations

from collections.abc import Iterator

from grader.model import Report
from grader.questions import load_questions
from grader.reports.columns import wrap
from grader.reports.view import View
from grader.texts import Texts


def write_follow_ups(report: Report, texts: Texts, view: View) -> Iterator[str]:
    """Each question; with `--answers` its points, its trap and its source."""
    if not report.follow_ups:
        return
    yield from wrap(texts("heading.follow-ups"), "", "  ")
    questions = load_questions(texts.language)
    for name in report.follow_ups:
        question = questions[name]
        level = texts(f"level.{question.level}")
        yield from wrap(texts("follow-up", question=question.question, level=level), "  ? ", "    ")
        if view.answers:
            for point in question.points:
                yield from wrap(point, "    - ", "      ")
            yield from wrap(texts("label.trap", text=question.trap), "    ", "    ")
            yield from wrap(texts("label.source", text=question.source), "    ", "    ")
    yield ""
