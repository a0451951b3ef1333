"""From a report to a look, and a look as plain data and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from grader.drill.model import Look, Trouble
from grader.drill.troubles import list_troubles
from grader.model import Report, stored

# Of a look without a report, the fields that are plain data already.
PLAIN = ("sha256", "score", "passed", "lost", "change")


def look_at(report: Report) -> Look:
    """What a report comes to: the score, what is lost where, what is wrong in order of cost."""
    lost = {area: report.available(area) - report.earned(area) for area in report.areas}
    dearest = sorted((area for area in lost if lost[area] > 0), key=lambda area: -lost[area])
    return Look(
        sha256=report.submission.sha256,
        score=report.score,
        passed=report.all_passed,
        lost={area: round(lost[area], 2) for area in dearest},
        troubles=tuple(list_troubles(report)),
        refusal=report.refusal,
        report=report,
    )


def dump_look(look: Look) -> dict[str, Any]:
    """Plain data; the source text stays in the candidate's file, and what a report has with it."""
    if look.report is not None:
        return {"report": stored.dump(look.report), "change": look.change}
    troubles = [[t.kind, t.id, t.line, t.wanted, t.given, t.state] for t in look.troubles]
    return {name: getattr(look, name) for name in PLAIN} | {"troubles": troubles}


def load_look(data: Mapping[str, Any]) -> Look:
    """The look that `dump_look` was given, without the source text."""
    rows = data.get("troubles", ())
    if "report" in data:
        return replace(look_at(stored.load(data["report"])), change=data["change"])
    troubles = tuple(Trouble(kind, name, line, None, *rest) for kind, name, line, *rest in rows)
    return Look(**{name: data[name] for name in PLAIN}, troubles=troubles)


def compare(look: Look, before: float | None) -> Look:
    """The look with the change since the score before; half a file changes nothing."""
    if before is None or look.refusal is not None:
        return look
    return replace(look, change=round(look.score - before, 2))
