"""The terminal: what a candidate with two minutes left needs, most important first."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from grader.clean import clean
from grader.model import Message, Outcome, Report
from grader.reports.columns import columns, fit, pad, room, wrap
from grader.reports.failures import number, write_failures, write_group
from grader.reports.follow_ups import write_follow_ups
from grader.reports.spared import write_reasons
from grader.reports.view import PLAIN, View
from grader.texts import Texts

BAR = 20
PRINTED_LINES = 8
NAMED_CASES = 12


def render(report: Report, texts: Texts, view: View = PLAIN) -> str:
    """Score, a line per area, what went wrong, what was not judged, how it was read.

    A file that answers no exercise is judged by how it was read, so there that comes first.
    """
    path = clean(report.submission.path, 200)
    title = texts("title", exercise=report.exercise or texts("unnamed"), path=path)
    lines = [*fit(title, sys.stdout), "", *_isolation(report, texts), ""]
    if report.refusal is not None:
        lines += [texts("heading.refused"), *wrap(texts.say(report.refusal)), ""]
    else:
        read = [texts("heading.convention"), *_convention(report, texts)]
        first, last = ([*read, ""], []) if report.is_free else ([], [*read, ""])
        lines += [
            *first,
            texts("score", score=number(report.score), max_score=f"{report.max_score:g}"),
            *(wrap(texts("score.unjudged")) if report.is_unjudged else ()),
            "",
        ]
        lines += [*_areas(report, texts), "", *write_failures(report, texts, view)]
        lines += [*_skipped(report, texts), *_not_offered(report, texts)]
        lines += [*_errors(report, texts), *last]
        lines += [*_walk(report, texts)] if view.walk else []
        lines += [*write_follow_ups(report, texts, view)]
    lines += [*_flags(report, texts), *_printed(report, texts), *_footer(report, texts)]
    return "\n".join(lines) + "\n"


def _isolation(report: Report, texts: Texts) -> Iterator[str]:
    said = texts(f"isolation.{report.isolation.level}")
    if report.isolation.missing:
        said = texts("isolation.lacking", said=said, layers=", ".join(report.isolation.missing))
    yield from wrap(said, "", "")


def _areas(report: Report, texts: Texts) -> Iterator[str]:
    names = {area: texts(f"area.{area}") for area in report.areas}
    width = max((columns(name) for name in names.values()), default=0)
    for area in report.areas:
        earned, points = report.earned(area), report.available(area)
        if not points and not report.has_errors:
            yield f"  {pad(names[area], width)}  {texts('outcome.not-applicable')}"
            continue
        full = round(BAR * earned / points) if points else 0
        # A bar is full only when nothing is missing.
        full = min(full, BAR - 1) if earned < points else full
        bar = "#" * full + "." * (BAR - full)
        yield f"  {pad(names[area], width)}  {bar}  {number(earned):>5} / {points:g}"


def _skipped(report: Report, texts: Texts) -> Iterator[str]:
    skipped = [v for v in report.verdicts if v.outcome is Outcome.SKIPPED and v.message]
    if not skipped:
        return
    yield texts("heading.skipped")
    for root in dict.fromkeys(_root(v.message) for v in skipped):
        cases = [v.case for v in skipped if _root(v.message) == root]
        fields = {"count": len(cases), "cases": ", ".join(cases)}
        key = "skipped-group" if root else "skipped-layout"
        # Names of a hundred cases say no more than how many they are.
        key += "" if len(cases) <= NAMED_CASES else "-many"
        yield from wrap(texts(key, case=root, **fields))
    yield ""


def _not_offered(report: Report, texts: Texts) -> Iterator[str]:
    reasons = list(write_reasons(report, texts))
    if reasons:
        yield texts("heading.not-offered")
        yield from (line for reason in reasons for line in wrap(reason))
        yield ""


def _root(message: Message | None) -> str:
    return str(message.fields.get("case", "")) if message else ""


def _errors(report: Report, texts: Texts) -> Iterator[str]:
    errors = [v for v in report.verdicts if v.outcome is Outcome.ERROR]
    if errors:
        yield texts("heading.errors")
        for verdict in errors:
            yield from write_group([verdict], texts, "  ! ")
        yield ""


def _convention(report: Report, texts: Texts) -> Iterator[str]:
    places = [m for m in report.convention if m.key == "convention.place"]
    for message in report.convention:
        if message.key != "convention.place":
            yield from wrap(texts.say(message))
    if places:
        yield from wrap(texts("aside").join(texts.say(message) for message in places))


def _walk(report: Report, texts: Texts) -> Iterator[str]:
    yield from wrap(texts("heading.walk"), "", "  ")
    strides = report.diagnosis.walk
    if not any(stride.what for stride in strides):
        yield from wrap(texts("walk.unknown"))
    names = max((columns(stride.name) for stride in strides), default=0)
    done = max((columns(stride.operation) for stride in strides), default=0)
    shapes = max((columns(stride.shape) for stride in strides), default=0)
    for stride in strides:
        parts = (pad(stride.name, names), pad(stride.operation, done), pad(stride.shape, shapes))
        row = f"{stride.line:>5}  {'  '.join(parts)}  "
        yield from wrap(stride.what, row, " " * 7)
    yield ""


def _flags(report: Report, texts: Texts) -> Iterator[str]:
    if report.flags:
        yield from wrap(texts("heading.flags"), "", "  ")
        words = (texts("flag", word=word, line=line) for word, line in report.flags)
        yield from wrap(", ".join(words))
        yield ""


def _printed(report: Report, texts: Texts) -> Iterator[str]:
    if not report.printed.size:
        return
    yield texts("heading.printed", size=report.printed.size)
    for line in report.printed.text.splitlines()[:PRINTED_LINES]:
        yield "  | " + line[: room() - 4]
    yield ""


def _footer(report: Report, texts: Texts) -> Iterator[str]:
    parts = [] if report.seed is None else [texts("seed", seed=report.seed)]
    parts.append(texts("time", seconds=report.seconds))
    if report.environment:
        parts.append(texts("versions", **report.environment))
    yield from fit("  ".join(parts), sys.stdout)
