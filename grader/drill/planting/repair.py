"""What a candidate found, left and broke, from the report on the repaired file.

Three kinds of evidence, the strongest first: every case passes; a mistake is named; the statements
that were changed stand as planted, or are as they were. A file that was rewritten says nothing by
its statements, and is judged by what fails.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from grader.drill.planting.planted import Broken, Planted, Repair, Spot, count_statements
from grader.drill.planting.symptoms import can_show, charged_areas, explains
from grader.model import Outcome, Report, Verdict

Said = Counter[str]
Named = dict[str, set[str]]


def compare(planted: Planted, report: Report) -> Repair:
    """What became of the planted mistakes, by the report on the file as it is now.

    A file that cannot be graded is not repaired: all is left.
    """
    if report.all_passed:
        return Repair(planted.mistakes, ())
    now = count_statements(report.submission.source)
    if report.refusal is not None or now == count_statements(planted.source):
        return Repair((), planted.mistakes)
    named = _named(report)
    left = _left(planted, report.verdicts, named, now)
    others = [
        v
        for v in report.verdicts
        if v.outcome is Outcome.FAILED and not _is_explained(v, left, named)
    ]
    return Repair(
        found=tuple(one for one in planted.mistakes if one not in left),
        left=tuple(one for one in planted.mistakes if one in left),
        broken=tuple(_broken(report, others)),
    )


def _left(planted: Planted, verdicts: Sequence[Verdict], named: Named, now: Said) -> set[str]:
    """Those named, those that stand and may be why something fails, then those that are unclear.

    A statement may stand and be mended elsewhere; what is as it was is mended. Of cases that were
    skipped nothing is known, and so they speak for nobody.
    """
    answer = count_statements(planted.answer)
    failed = [v for v in verdicts if v.outcome is Outcome.FAILED]
    own = [v for v in failed if v.mistake not in planted.mistakes]
    left = {one for one in planted.mistakes if any(one in names for names in named.values())}
    for spot in planted.spots:
        if _stands(spot, now, answer) and any(can_show(spot.mistake, v.area) for v in own):
            left.add(spot.mistake)
    rest = [v for v in own if not v.mistake and not _is_explained(v, left, named)]
    skipped = {v.area for v in verdicts if v.outcome is Outcome.SKIPPED}
    for spot in planted.spots:
        unknown = skipped & set(charged_areas(spot.mistake))
        shows = any(can_show(spot.mistake, v.area) for v in rest)
        if (unknown or shows) and not _is_restored(spot, now, answer):
            left.add(spot.mistake)
    return left


def _named(report: Report) -> Named:
    """Each mistake that is named, with those that would explain its cases as well."""
    found = {v.mistake: {v.mistake} for v in report.verdicts if v.mistake}
    for one in report.diagnosis.mistakes:
        found.setdefault(one.mistake, {one.mistake}).update(one.alternatives)
    return found


def _is_explained(verdict: Verdict, left: Iterable[str], named: Named) -> bool:
    """True where one of the mistakes that are left may be why this case fails."""
    names = named.get(verdict.mistake or "", set())
    return any(one in names or explains(one, verdict) for one in left)


def _stands(spot: Spot, now: Said, answer: Said) -> bool:
    """True where all that was made wrong is there as it was planted."""
    return bool(spot.wrong) and all(now[one] > answer[one] for one in spot.wrong)


def _is_restored(spot: Spot, now: Said, answer: Said) -> bool:
    """True where the statements are those of the answer again."""
    return not any(now[one] > answer[one] for one in spot.wrong) and all(
        now[one] >= answer[one] for one in spot.right
    )


def _broken(report: Report, verdicts: Iterable[Verdict]) -> Iterator[Broken]:
    lines = {one.mistake: one.line for one in report.diagnosis.mistakes}
    groups: dict[str | None, list[str]] = {}
    for verdict in verdicts:
        groups.setdefault(verdict.mistake, []).append(verdict.case)
    for mistake, cases in groups.items():
        yield Broken(mistake, lines.get(mistake or ""), tuple(cases))
