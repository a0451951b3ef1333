"""HTML: one page that needs nothing else, to be looked at, printed and sent."""

from __future__ import annotations

from grader.clean import clean
from grader.model import Report
from grader.reports.html.body import write_body
from grader.reports.html.element import Html, el, join
from grader.reports.html.page import write_page
from grader.reports.html.sections.summary import write_title
from grader.reports.view import PLAIN, View
from grader.texts import Texts

__all__ = ["render"]


def render(report: Report, texts: Texts, view: View = PLAIN) -> str:
    """The page of one report, with pictures if its evidence was gathered."""
    path = clean(report.submission.path, 200)
    title = texts("title", exercise=report.exercise or texts("unnamed"), path=path)
    main = el("main", write_title(report, texts), write_body(report, texts, view))
    return "".join(write_page(title, texts.language, [join(main, Html("\n"))]))
