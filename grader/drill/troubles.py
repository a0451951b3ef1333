"""What is wrong by a report, in the order in which it is best mended."""

from __future__ import annotations

from collections.abc import Iterator

from grader.drill.model import Trouble
from grader.model import Outcome, Report, Verdict

# How the keys of what a file did instead of an answer begin: raised, ended, took too long.
STOPPED = "trouble."


def list_troubles(report: Report) -> Iterator[Trouble]:
    """What keeps other cases from being judged; mistakes with a name; areas where the rest fails.

    Each the costliest first.
    """
    failed = [v for v in report.verdicts if v.outcome is Outcome.FAILED]
    named = {mistake.mistake for mistake in report.diagnosis.mistakes}
    # What has a name is told by its name, unless nothing at all can be told behind it.
    found = _find_blockers(report, failed)
    blockers = [blocker for blocker in found if _stops(blocker) or blocker.mistake not in named]
    yield from (_describe(report, blocker) for blocker in blockers)
    for mistake in report.diagnosis.mistakes:
        said = next((v.message for v in failed if v.mistake == mistake.mistake), None)
        yield Trouble("mistake", mistake.mistake, mistake.line, said)
    told = [blocker.message for blocker in blockers]
    others = [v for v in failed if v.mistake not in named and v.message not in told]
    known = [blocker.area for blocker in blockers if not _stops(blocker)]
    for area in dict.fromkeys(v.area for v in others if v.area not in known):
        yield _name_area(report, next(v for v in others if v.area == area))


def _find_blockers(report: Report, failed: list[Verdict]) -> list[Verdict]:
    """Failed cases that others build on, by the points of those; of one sentence one case."""
    cost: dict[str, float] = {}
    for verdict in report.verdicts:
        if verdict.outcome is Outcome.SKIPPED and verdict.message is not None:
            root = str(verdict.message.fields.get("case"))
            cost[root] = cost.get(root, 0.0) + verdict.max_points
    found: list[Verdict] = []
    roots = [verdict for verdict in failed if verdict.case in cost]
    for verdict in sorted(roots, key=lambda v: -cost[v.case]):
        if verdict.message not in [one.message for one in found]:
            found.append(verdict)
    return found


def _describe(report: Report, blocker: Verdict) -> Trouble:
    if not _stops(blocker):
        return _name_area(report, blocker)
    assert blocker.message is not None
    return Trouble("crash", blocker.case, blocker.message.fields.get("line"), blocker.message)


def _stops(verdict: Verdict) -> bool:
    return verdict.message is not None and verdict.message.key.startswith(STOPPED)


def _name_area(report: Report, first: Verdict) -> Trouble:
    """An area by the first of its cases that fails."""
    line = next((d.line for d in report.diagnosis.departures if d.case == first.case), None)
    return Trouble("area", first.area, line, first.message)
