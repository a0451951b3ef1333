"""A talk that is over, marked by oneself point by point."""

from __future__ import annotations

from collections.abc import Sequence

from grader.cli import console
from grader.drill.cli.keys import Keys
from grader.drill.kinds.explain import Point
from grader.reports.columns import wrap
from grader.texts import Texts

YES, NO, LEAVE = "y", "n", "q"


def mark_points(points: Sequence[Point], keys: Keys, texts: Texts) -> list[str] | None:
    """The ids of the points that were made; None where somebody leaves before the last."""
    console.tell(*wrap(texts("drill.talk.title"), "", ""), "")
    made = []
    for number, point in enumerate(points, 1):
        console.tell(
            *wrap(texts("drill.talk.point", number=number, count=len(points), text=point.text))
        )
        answer = _take_answer(point, keys, texts)
        if answer is None:
            return None
        if answer:
            made.append(point.id)
    return made


def _take_answer(point: Point, keys: Keys, texts: Texts) -> bool | None:
    suggested = "" if point.made is None else YES if point.made else NO
    while True:
        console.tell(*wrap(texts(f"drill.talk.ask-{suggested or 'open'}")))
        line = keys.line()
        if line is None or line.strip().lower() == LEAVE:
            return None
        answer = line.strip().lower() or suggested
        if answer in (YES, NO):
            return answer == YES
