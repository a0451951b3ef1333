"""The terminal: what a candidate with two minutes left needs, most important first."""

from __future__ import annotations

from collections.abc import Iterator

from grader.clean import clean
from grader.model import Message, Outcome, Report, Verdict
from grader.reports.columns import WIDTH, columns, pad, wrap
from grader.texts import Texts

BAR = 20
PRINTED_LINES = 8


def render(report: Report, texts: Texts) -> str:
    """Score, a line per area, what went wrong, what was not judged, how it was read.

    A file that answers no exercise is judged by how it was read, so there that comes first.
    """
    path = clean(report.submission.path, 200)
    title = texts("title", exercise=report.exercise or texts("unnamed"), path=path)
    lines = [title, ""]
    if report.refusal is not None:
        lines += [texts("heading.refused"), *wrap(texts.say(report.refusal)), ""]
    else:
        read = [texts("heading.convention"), *_convention(report, texts)]
        first, last = ([*read, ""], []) if report.is_free else ([], [*read, ""])
        lines += [
            *first,
            texts("score", score=_number(report.score), max_score=f"{report.max_score:g}"),
            "",
        ]
        lines += [*_areas(report, texts), "", *_failures(report, texts)]
        lines += [*_skipped(report, texts), *_not_offered(report, texts)]
        lines += [*_errors(report, texts), *last]
    lines += [*_printed(report, texts), *_footer(report, texts)]
    return "\n".join(lines) + "\n"


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
        yield f"  {pad(names[area], width)}  {bar}  {_number(earned):>5} / {points:g}"


def _failures(report: Report, texts: Texts) -> Iterator[str]:
    failed = [v for v in report.verdicts if v.outcome is Outcome.FAILED]
    if not failed:
        if report.all_passed:
            yield from (texts("all-passed"), "")
        return
    yield texts("heading.failed")
    # Cases that one known mistake explains stand under it, those that fail alike under each other.
    for mistake in dict.fromkeys(v.mistake for v in failed if v.mistake):
        group = [v for v in failed if v.mistake == mistake]
        yield from wrap(f"{mistake}: " + texts(f"mistake.{mistake}"), "  * ", "    ")
        yield from _group(group, texts, "    ")
    for alike in dict.fromkeys(_kind(v) for v in failed if not v.mistake):
        yield from _group([v for v in failed if not v.mistake and _kind(v) == alike], texts, "  * ")
    followed = sum(v.message is not None and v.message.key == "followed" for v in report.verdicts)
    if followed:
        yield from wrap(texts("followed-count", count=followed))
    yield ""


def _kind(verdict: Verdict) -> tuple[str, str]:
    return verdict.area, verdict.message.key if verdict.message else ""


def _group(verdicts: list[Verdict], texts: Texts, mark: str) -> Iterator[str]:
    """Names of the cases, what they cost together, and the first one's sentence."""
    lost = sum(v.max_points - v.points for v in verdicts)
    names = ", ".join(v.case for v in verdicts)
    cost = f", {texts('points-lost', points=lost)}" if verdicts[0].outcome is Outcome.FAILED else ""
    areas = ", ".join(dict.fromkeys(texts(f"area.{v.area}") for v in verdicts))
    indent = " " * len(mark)
    yield from wrap(f"{names} [{areas}{cost}]", mark, indent)
    first = verdicts[0].message
    if first is not None:
        yield from wrap(texts.say(first), indent + "  ", indent + "  ")


def _skipped(report: Report, texts: Texts) -> Iterator[str]:
    skipped = [v for v in report.verdicts if v.outcome is Outcome.SKIPPED and v.message]
    if not skipped:
        return
    yield texts("heading.skipped")
    for root in dict.fromkeys(_root(v.message) for v in skipped):
        cases = [v.case for v in skipped if _root(v.message) == root]
        fields = {"count": len(cases), "cases": ", ".join(cases)}
        key = "skipped-group" if root else "skipped-layout"
        yield from wrap(texts(key, case=root, **fields))
    yield ""


def _not_offered(report: Report, texts: Texts) -> Iterator[str]:
    spared = [v for v in report.verdicts if v.outcome is Outcome.NOT_APPLICABLE and v.message]
    if not spared:
        return
    yield texts("heading.not-offered")
    for key in dict.fromkeys(v.message.key for v in spared if v.message):
        count = sum(v.message is not None and v.message.key == key for v in spared)
        yield from wrap(texts("not-offered.group", reason=texts(key), count=count))
    yield ""


def _root(message: Message | None) -> str:
    return str(message.fields.get("case", "")) if message else ""


def _errors(report: Report, texts: Texts) -> Iterator[str]:
    errors = [v for v in report.verdicts if v.outcome is Outcome.ERROR]
    if errors:
        yield texts("heading.errors")
        for verdict in errors:
            yield from _group([verdict], texts, "  ! ")
        yield ""


def _convention(report: Report, texts: Texts) -> Iterator[str]:
    places = [m for m in report.convention if m.key == "convention.place"]
    for message in report.convention:
        if message.key != "convention.place":
            yield from wrap(texts.say(message))
    if places:
        yield from wrap("; ".join(texts.say(message) for message in places))


def _printed(report: Report, texts: Texts) -> Iterator[str]:
    if not report.printed.size:
        return
    yield texts("heading.printed", size=report.printed.size)
    for line in report.printed.text.splitlines()[:PRINTED_LINES]:
        yield "  | " + line[: WIDTH - 4]
    yield ""


def _footer(report: Report, texts: Texts) -> Iterator[str]:
    yield from wrap(texts(f"isolation.{report.isolation.level}"), "", "")
    parts = [texts("seed", seed=report.seed), texts("time", seconds=report.seconds)]
    if report.environment:
        parts.append(texts("versions", **report.environment))
    yield "  ".join(parts)


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
