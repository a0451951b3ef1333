"""The top of the page: what was graded, the score, the areas, how far the file was shut in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import PurePath

from grader.clean import clean
from grader.model import Outcome, Report
from grader.reports.failures import number
from grader.reports.html.element import Html, el, join
from grader.reports.html.page import row, table
from grader.reports.html.pictures.bars import draw_share
from grader.reports.html.pictures.ring import draw_ring
from grader.texts import Texts


def write_title(report: Report, texts: Texts) -> Html:
    """The exercise, the file's name, and where it lies."""
    exercise = texts("html.exercise", exercise=report.exercise or texts("unnamed"))
    path = clean(report.submission.path, 200)
    name = PurePath(path).name or path
    parts = [el("p", exercise, class_="eyebrow"), el("h1", name, class_="path")]
    if name != path:
        parts.append(el("p", path, class_="note path"))
    return el("header", *parts)


def write_score(report: Report, texts: Texts) -> Html:
    """The ring beside the areas."""
    most = f"{report.max_score:g}"
    said = texts("score", score=number(report.score), max_score=most)
    ring = draw_ring(report.score, report.max_score, said, texts("html.of", max_score=most))
    left = [el("figure", ring), _counts(report, texts)]
    if report.is_unjudged:
        left.append(el("p", texts("score.unjudged"), class_="note"))
    heads = (texts("html.area"), "", texts("html.points"))
    areas = table(heads, _areas(report, texts), "areas")
    return el("section", el("div", *left, class_="total"), areas, class_="summary panel")


def _counts(report: Report, texts: Texts) -> Html:
    counts = Counter(verdict.outcome for verdict in report.verdicts)
    items = (
        el("li", el("b", str(counts[one])), " ", texts(f"outcome.{one.value}"), class_=one.value)
        for one in Outcome
        if counts[one]
    )
    return el("ul", *items, class_="counts")


def _areas(report: Report, texts: Texts) -> Iterator[Html]:
    for area in report.areas:
        earned, points = report.earned(area), report.available(area)
        name = texts(f"area.{area}")
        if not points and not report.has_errors:
            spared = texts("outcome.not-applicable")
            yield row(name, "", spared, head=0, name="spared")
        else:
            bar = draw_share(earned / points if points else 0.0)
            yield row(name, bar, f"{number(earned)} / {number(points)}", head=0)


def write_isolation(report: Report, texts: Texts) -> Html:
    """How far the file was shut in, and which layers were missing."""
    said = texts(f"isolation.{report.isolation.level}")
    if report.isolation.missing:
        said = texts("isolation.lacking", said=said, layers=", ".join(report.isolation.missing))
    return join(el("p", said, class_=f"isolation {report.isolation.level}"), Html("\n"))
