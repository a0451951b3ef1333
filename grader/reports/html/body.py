"""What a page says of one report, most important first."""

from __future__ import annotations

from grader.model import Report
from grader.reports.html.element import Html, join
from grader.reports.html.sections.attention import write_attention
from grader.reports.html.sections.closing import write_closing
from grader.reports.html.sections.failures import write_failures, write_refusal
from grader.reports.html.sections.questions import write_questions
from grader.reports.html.sections.reading import (
    write_convention,
    write_flags,
    write_printed,
    write_spared,
)
from grader.reports.html.sections.summary import write_isolation, write_score
from grader.reports.html.sections.tables import write_cases, write_gradients, write_walk
from grader.reports.view import View
from grader.texts import Texts


def write_body(report: Report, texts: Texts, view: View) -> Html:
    """Everything below the title, in the order of the terminal's report."""
    if report.refusal is not None:
        judged = [write_isolation(report, texts), write_refusal(report, texts)]
    else:
        read = write_convention(report, texts)
        judged = [
            write_score(report, texts),
            write_isolation(report, texts),
            # A file that answers no exercise is judged by how it was read.
            *([read] if report.is_free else []),
            write_failures(report, texts, view),
            write_attention(report, texts),
            write_gradients(report, texts),
            write_walk(report, texts),
            write_cases(report, texts),
            write_spared(report, texts),
            *([] if report.is_free else [read]),
            write_questions(report, texts, view),
        ]
    closing = [write_flags(report, texts), write_printed(report, texts)]
    return join(*judged, *closing, write_closing(report, texts))
