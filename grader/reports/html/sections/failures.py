"""What went wrong: a card for each mistake, its line marked, then what has no name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from grader.model import Departure, NamedMistake, Report, Verdict
from grader.reports.failures import HINTS, failed, followed, unnamed
from grader.reports.html.element import Html, el, join
from grader.reports.html.page import section
from grader.reports.html.sections.source import line_of, write_source
from grader.reports.view import View
from grader.texts import Texts, load_pages


def write_failures(report: Report, texts: Texts, view: View) -> Html:
    """Each mistake with its line and its cases, then groups of cases that nothing explains."""
    if not failed(report):
        said = el("p", texts("all-passed"), class_="panel fine")
        return join(said, Html("\n")) if report.all_passed else join()
    cards = [_write_mistake(report, found, texts, view) for found in report.diagnosis.mistakes]
    cards += [_write_group(report, group, texts) for group in unnamed(report)]
    if followed(report):
        cards.append(el("p", texts("followed-count", count=followed(report)), class_="note"))
    return section(texts("heading.failed"), *cards, name="failures")


def write_refusal(report: Report, texts: Texts) -> Html:
    """Why the file cannot be graded, and where."""
    assert report.refusal is not None
    said = el("p", texts.say(report.refusal), class_="what")
    source = write_source(report, line_of(report.refusal), texts)
    return section(texts("heading.refused"), el("article", said, source, class_="panel mistake"))


def _write_mistake(report: Report, found: NamedMistake, texts: Texts, view: View) -> Html:
    group = [v for v in failed(report) if v.mistake == found.mistake]
    what = texts(f"mistake.{found.mistake}")
    parts = [_write_top(what, found.line, texts, found.mistake)]
    for other in found.alternatives:
        parts.append(el("p", texts("mistake-alternative", name=other, mistake=other)))
    parts += _write_departures(report, found.cases, texts)
    parts.append(write_source(report, found.line, texts))
    parts += _write_hints(found.mistake, texts, view)
    if group:
        parts += _write_cases(group, texts)
    else:
        # Made together with another, and seen in the same cases.
        parts.append(el("p", texts("mistake-shared", cases=", ".join(found.cases))))
    return el("article", *parts, class_="panel mistake")


def _write_group(report: Report, group: Sequence[Verdict], texts: Texts) -> Html:
    departures = [d for d in report.diagnosis.departures if d.case in {v.case for v in group}]
    line = departures[0].line if departures else line_of(group[0].message)
    said = texts.say(group[0].message) if group[0].message else texts("outcome.failed")
    parts = [_write_top(said, line, texts)]
    parts += _write_departures(report, [v.case for v in group], texts)
    parts.append(write_source(report, line, texts))
    parts += _write_cases(group, texts, is_said=True)
    return el("article", *parts, class_="panel mistake")


def _write_top(what: str, line: int | None, texts: Texts, name: str = "") -> Html:
    small = [el("span", texts("html.line", line=line), class_="at")] if line else []
    small += [el("code", name)] if name else []
    top = [el("p", *small, class_="tags")] if small else []
    return join(*top, el("h3", what))


def _write_departures(report: Report, cases: Sequence[str], texts: Texts) -> Iterator[Html]:
    found: list[Departure] = [d for d in report.diagnosis.departures if d.case in cases]
    yield from (el("p", texts.say(departure.message)) for departure in found)


def _write_hints(mistake: str, texts: Texts, view: View) -> Iterator[Html]:
    page = load_pages(texts.language).get(mistake, {})
    for part in HINTS[: view.hints]:
        if part in page:
            yield el("p", texts(f"label.{part}", text=page[part]), class_="hint")


def _write_cases(group: Sequence[Verdict], texts: Texts, is_said: bool = False) -> Iterator[Html]:
    lost = texts("points-lost", points=sum(v.max_points - v.points for v in group))
    areas = ", ".join(dict.fromkeys(texts(f"area.{v.area}") for v in group))
    names = (el("li", el("code", v.case)) for v in group)
    yield el("p", f"{areas}, {lost}", class_="cost")
    yield el("ul", *names, class_="cases")
    first = group[0].message
    if first is not None and not is_said:
        yield el("p", texts.say(first), class_="seen")
