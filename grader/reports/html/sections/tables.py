"""What is best read as a table: gradients, the walk of the shapes, every case."""

from __future__ import annotations

from collections.abc import Iterator

from grader.model import Outcome, Report, Verdict
from grader.model.evidence import Slope
from grader.reports.failures import followed, number
from grader.reports.html.element import Html, el, join
from grader.reports.html.page import row, scroll, section, table
from grader.reports.html.pictures.bars import draw_error
from grader.texts import Texts


def write_gradients(report: Report, texts: Texts) -> Html:
    """A bar for each input and each parameter: how far its gradient is off."""
    slopes = report.evidence.gradients if report.evidence else ()
    if report.evidence is None or not slopes:
        return join()
    allowed = report.evidence.allowed
    about = [el("p", texts("html.gradients.about", allowed=f"{allowed:.0e}"), class_="lead")]
    if followed(report):
        about.append(el("p", texts("html.gradients.followed")))
    names = ("name", "error", "", "largest", "largest-expected")
    heads = [texts(f"html.gradients.{name}") if name else "" for name in names]
    rows = (_write_slope(slope, allowed, texts) for slope in slopes)
    title = texts("html.gradients")
    shown = scroll(title, table(heads, rows, "gradients"))
    return section(title, el("div", *about, shown, class_="panel"))


def _write_slope(slope: Slope, allowed: float, texts: Texts) -> Html:
    none = texts("html.gradients.none")
    error = none if slope.error is None else f"{slope.error:.1e}"
    got = none if slope.got is None else f"{slope.got:.3g}"
    name, bar = el("code", slope.name), draw_error(slope.error, allowed)
    right = slope.error is not None and slope.error <= allowed
    kind = None if right else "wrong"
    return row(name, error, bar, got, f"{slope.expected:.3g}", head=0, name=kind)


def write_walk(report: Report, texts: Texts) -> Html:
    """The shapes through the file, a row for each tensor."""
    strides = report.diagnosis.walk
    title = texts("heading.walk")
    if not strides:
        return section(title, el("p", texts("walk.unknown"), class_="panel"))
    heads = [texts(f"html.walk.{name}") for name in ("line", "name", "operation", "shape", "what")]
    rows = (
        row(str(s.line), *(el("code", x) for x in (s.name, s.operation, s.shape)), s.what)
        for s in strides
    )
    shown = scroll(title, table(heads, rows, "walk"))
    return section(title, el("div", shown, class_="panel"))


def write_cases(report: Report, texts: Texts) -> Html:
    """Every case by area: those that failed in the open, the others folded."""
    wrong = [v for v in report.verdicts if v.outcome in (Outcome.FAILED, Outcome.ERROR)]
    rest = [v for v in report.verdicts if v not in wrong]
    parts = [_table(wrong, texts)] if wrong else []
    if rest:
        said = el("summary", texts("html.cases.rest", count=len(rest)))
        parts.append(el("details", said, _table(rest, texts)))
    return section(texts("html.cases"), el("div", *parts, class_="panel"))


def _table(verdicts: list[Verdict], texts: Texts) -> Html:
    names = ("case", "area", "outcome", "points", "message")
    heads = [texts(f"html.cases.{name}") for name in names]
    return scroll(texts("html.cases"), table(heads, _rows(verdicts, texts), "verdicts"))


def _rows(verdicts: list[Verdict], texts: Texts) -> Iterator[Html]:
    for v in verdicts:
        said = texts.say(v.message) if v.message else ""
        points = f"{number(v.points)} / {number(v.max_points)}"
        outcome = texts(f"outcome.{v.outcome.value}")
        cells = (el("code", v.case), texts(f"area.{v.area}"), outcome, points, said)
        yield row(*cells, head=0, name=v.outcome.value)
