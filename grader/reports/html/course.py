"""A whole course on one page: an overview, and behind each name that submission's report.

A report is shown once its name is followed, and the overview then steps back, by rules of the style
sheet alone. Without a style sheet they stand one after another.
"""

from __future__ import annotations

import statistics
from collections.abc import Collection, Iterator

from grader.clean import clean
from grader.model import Graded
from grader.reports.failures import number
from grader.reports.figures import Figures, sum_up
from grader.reports.html.body import write_body
from grader.reports.html.element import Html, el, join
from grader.reports.html.page import row, scroll, section, table, write_page
from grader.reports.html.pictures.bars import draw_share
from grader.reports.html.pictures.histogram import draw_histogram
from grader.reports.html.sections.summary import write_title
from grader.reports.view import PLAIN, View
from grader.texts import Texts

MOST = 12
MAX_NAME = 200


def render(batch: Collection[Graded], texts: Texts, view: View = PLAIN) -> Iterator[str]:
    """The page, a submission at a time."""
    yield from write_page(texts("html.course"), texts.language, _write(batch, texts, view))


def _write(batch: Collection[Graded], texts: Texts, view: View) -> Iterator[Html]:
    figures = sum_up(batch)
    yield Html('<main id="overview" class="overview">\n')
    total = texts(
        "course.total", count=figures.total, graded=len(figures.scores), passed=figures.passed
    )
    yield el("header", el("h1", texts("html.course")), el("p", total, class_="lead"))
    yield from _write_figures(figures, texts)
    yield Html(f"<section>{el('h2', texts('html.course.submissions'))}")
    yield from _write_list(batch, texts)
    yield Html("</section>\n</main>\n")
    for at, graded in enumerate(batch, 1):
        yield _write_report(at, graded, texts, view)


def _write_figures(figures: Figures, texts: Texts) -> Iterator[Html]:
    if figures.scores:
        middle, mean = statistics.median(figures.scores), statistics.fmean(figures.scores)
        title = texts("course.scores", median=middle, mean=mean)
        drawn = draw_histogram(list(figures.bins), texts("html.course.bin"))
        yield section(title, el("figure", drawn, class_="panel"))
    if figures.hardest:
        heads = (texts("html.cases.case"), texts("html.course.share"), "")
        rows = (_write_hard(case, share, figures, texts) for case, share in figures.hardest[:MOST])
        yield section(
            texts("course.hardest"), el("div", table(heads, rows, "shares"), class_="panel")
        )
    if figures.mistakes:
        heads = (texts("html.course.mistake"), "", texts("html.course.files"))
        rows = (
            row(el("code", name), texts(f"mistake.{name}"), str(count), head=0)
            for name, count in figures.mistakes.most_common(MOST)
        )
        shown = scroll(texts("course.mistakes"), table(heads, rows, "mistakes"))
        yield section(texts("course.mistakes"), el("div", shown, class_="panel"))


def _write_hard(case: str, share: float, figures: Figures, texts: Texts) -> Html:
    """A case, and how many fail it of those that got so far."""
    of = texts("html.course.of", failed=figures.failed[case], judged=figures.judged[case])
    said = join(f"{share:.0%} ", el("span", of, class_="of"))
    return row(el("code", case), said, draw_share(share, "bad"), head=0)


def _write_list(batch: Collection[Graded], texts: Texts) -> Iterator[Html]:
    """A row for each submission; piece by piece, so that no list of all is held."""
    names = ("student", "file", "score", "mistakes")
    heads = (el("th", texts(f"html.course.{name}"), scope="col") for name in names)
    label = join(texts("html.course.submissions"))
    yield Html(f'<div class="scroll panel" role="region" aria-label="{label}" tabindex="0">')
    yield Html(f'<table class="list"><thead>{el("tr", *heads)}</thead><tbody>\n')
    for at, graded in enumerate(batch, 1):
        report = graded.report
        path = clean(report.submission.path, MAX_NAME)
        score = "" if report.refusal is not None else number(report.score)
        cells = (_write_link(at, graded), path, score, _write_state(graded, texts))
        yield join(row(*cells, head=0), Html("\n"))
    yield Html("</tbody></table></div>")


def _write_link(at: int, graded: Graded) -> Html:
    """The full name where it is known, and the id beside it."""
    name = clean(graded.name, MAX_NAME)
    link = el("a", name or _name(graded), href=f"#s{at}")
    return join(link, " ", el("span", _name(graded), class_="id")) if name else link


def _write_state(graded: Graded, texts: Texts) -> Html:
    """What a teacher looks for in the list: a fault of ours first, then what the file has."""
    report = graded.report
    if report.has_errors:
        return el("b", texts("html.course.errors"), class_="bad")
    if report.refusal is not None:
        return el("span", texts("html.course.refused"), class_="bad")
    if report.all_passed:
        return el("span", texts("html.course.passed"), class_="good")
    found = dict.fromkeys(mistake.mistake for mistake in report.diagnosis.mistakes)
    if not found:
        lost = (area for area in report.areas if report.earned(area) < report.available(area))
        areas = texts("html.course.comma").join(texts(f"area.{area}") for area in lost)
        return el("span", texts("html.course.unnamed", areas=areas), class_="note")
    return join(*(piece for name in found for piece in (el("code", name), " ")))


def _write_report(at: int, graded: Graded, texts: Texts, view: View) -> Html:
    back = el("p", el("a", texts("html.course.back"), href="#overview"), class_="back")
    named = filter(None, (clean(graded.name, MAX_NAME), _name(graded)))
    whose = el("p", " · ".join(named), class_="whose")
    parts = (back, whose, write_title(graded.report, texts), write_body(graded.report, texts, view))
    return join(el("article", *parts, id=f"s{at}", class_="report"), Html("\n"))


def _name(graded: Graded) -> str:
    """The student, and which try it was from the second on."""
    student = clean(graded.student, MAX_NAME)
    return student if graded.attempt == 1 else f"{student} ({graded.attempt})"
