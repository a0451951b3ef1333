"""How a drill stands: what is asked again and again, from one reading of what was noted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grader.drill import clock
from grader.drill.model import FINISHED, GRADED, OVERTIME, TALKED, Drill, Event


@dataclass(frozen=True)
class Standing:
    """How far a drill has come.

    `left` is seconds until time is up, negative in overtime, as it was when the clock stopped;
    `is_told` whether somebody was told that time is up; `is_talked` True of a talk that is over,
    whether or not it has been marked.
    """

    left: float
    saves: int
    is_told: bool
    is_talked: bool
    is_finished: bool


def stand(drill: Drill, events: Sequence[Event], now: float) -> Standing:
    """The standing of this drill, of which these are the events."""
    noted = [event.what for event in events]
    return Standing(
        left=clock.left(drill, clock.stop(events, now)),
        saves=noted.count(GRADED),
        is_told=OVERTIME in noted,
        is_talked=TALKED in noted,
        is_finished=FINISHED in noted,
    )
