"""The interviewer's next questions; with answers, their key points are folded below each."""

from __future__ import annotations

from grader.model import Report
from grader.questions import Question, load_questions
from grader.reports.html.element import Html, el, join
from grader.reports.html.page import section
from grader.reports.view import View
from grader.texts import Texts


def write_questions(report: Report, texts: Texts, view: View) -> Html:
    """Each question with its level."""
    if not report.follow_ups:
        return join()
    known = load_questions(texts.language)
    asked = (_write(known[name], texts, view) for name in report.follow_ups)
    return section(texts("html.questions"), el("ol", *asked, class_="questions panel"))


def _write(question: Question, texts: Texts, view: View) -> Html:
    level = el("span", texts(f"level.{question.level}"), class_="level")
    asked = el("p", question.question, " ", level)
    if not view.answers:
        return el("li", asked)
    points = el("ul", *(el("li", point) for point in question.points))
    trap = el("p", texts("label.trap", text=question.trap))
    source = el("p", texts("label.source", text=question.source), class_="note")
    folded = el("details", el("summary", texts("html.points-of-answer")), points, trap, source)
    return el("li", asked, folded)
