"""What went wrong, in the terminal: one root cause first, with its line, and what it broke."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from grader.model import NamedMistake, Outcome, Report, Verdict
from grader.reports.columns import wrap
from grader.reports.view import View
from grader.texts import Texts, load_pages

# What is shown of a mistake's page at each level of hints.
HINTS = ("hint", "pointer", "fix")


def write_failures(report: Report, texts: Texts, view: View) -> Iterator[str]:
    """Each mistake with its line and its cases, then what no known mistake explains."""
    wrong = failed(report)
    if not wrong:
        if report.all_passed:
            yield from (texts("all-passed"), "")
        return
    yield texts("heading.failed")
    for mistake in report.diagnosis.mistakes:
        yield from _mistake(report, mistake, wrong, texts, view)
    for group in unnamed(report):
        yield from write_group(group, texts, "  * ")
        yield from _departure(report, [v.case for v in group], texts, "      ")
    if followed(report):
        yield from wrap(texts("followed-count", count=followed(report)))
    yield ""


def failed(report: Report) -> list[Verdict]:
    """The verdicts that cost points."""
    return [v for v in report.verdicts if v.outcome is Outcome.FAILED]


def unnamed(report: Report) -> Iterator[list[Verdict]]:
    """What failed and no named mistake explains, together what failed alike."""
    named = {mistake.mistake for mistake in report.diagnosis.mistakes}
    others = [v for v in failed(report) if v.mistake not in named]
    for alike in dict.fromkeys(_kind(v) for v in others):
        yield [v for v in others if _kind(v) == alike]


def followed(report: Report) -> int:
    """How many cases are right only if a mistake is taken as meant."""
    return sum(v.message is not None and v.message.key == "followed" for v in report.verdicts)


def write_case(report: Report, case: str, texts: Texts, view: View) -> Iterator[str]:
    """One failed case by itself, in the words that the report has for it."""
    verdict = next(v for v in report.verdicts if v.case == case)
    named = tuple(m for m in report.diagnosis.mistakes if m.mistake == verdict.mistake)
    alone = replace(
        report, verdicts=(verdict,), diagnosis=replace(report.diagnosis, mistakes=named)
    )
    _, *lines, _ = write_failures(alone, texts, view)
    # Without the list's marks there is nothing to indent below.
    yield from (line[4:] for line in lines)


def _mistake(
    report: Report, mistake: NamedMistake, wrong: Sequence[Verdict], texts: Texts, view: View
) -> Iterator[str]:
    group = [v for v in wrong if v.mistake == mistake.mistake]
    name = mistake.mistake
    if mistake.line:
        name = texts("mistake-line", name=name, line=mistake.line)
    yield from wrap(
        texts("mistake-said", name=name, said=texts(f"mistake.{mistake.mistake}")), "  * ", "    "
    )
    for other in mistake.alternatives:
        fields = {"name": other, "mistake": other}
        yield from wrap(texts("mistake-alternative", **fields), "    ", "    ")
    yield from _departure(report, mistake.cases, texts, "    ")
    page = load_pages(texts.language).get(mistake.mistake, {})
    for part in HINTS[: view.hints]:
        if part in page:
            yield from wrap(texts(f"label.{part}", text=page[part]), "    ", "    ")
    if group:
        yield from write_group(group, texts, "    ")
    else:
        # Made together with another, and seen in the same cases.
        yield from wrap(texts("mistake-shared", cases=", ".join(mistake.cases)), "    ", "    ")


def _departure(report: Report, cases: Sequence[str], texts: Texts, indent: str) -> Iterator[str]:
    """The sentence that says where the file departs in these cases."""
    for departure in report.diagnosis.departures:
        if departure.case in cases:
            yield from wrap(texts.say(departure.message), indent, indent)


def write_group(verdicts: Sequence[Verdict], texts: Texts, mark: str) -> Iterator[str]:
    """Names of the cases, what they cost together, and the first one's sentence."""
    lost = sum(v.max_points - v.points for v in verdicts)
    names = ", ".join(v.case for v in verdicts)
    cost = f", {texts('points-lost', points=lost)}" if verdicts[0].outcome is Outcome.FAILED else ""
    areas = texts("between").join(dict.fromkeys(texts(f"area.{v.area}") for v in verdicts))
    indent = " " * len(mark)
    yield from wrap(f"{names} [{areas}{cost}]", mark, indent)
    first = verdicts[0].message
    if first is not None:
        yield from wrap(texts.say(first), indent + "  ", indent + "  ")


def number(value: float) -> str:
    """Two digits at most, and no idle zeros."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _kind(verdict: Verdict) -> tuple[str, str]:
    return verdict.area, verdict.message.key if verdict.message else ""
