"""What happened in a drill, counted: everything that a review or a history says is from here."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grader.drill import clock
from grader.drill.kinds import KINDS
from grader.drill.model import (
    GRADED,
    HINTED,
    LOOKED_UP,
    Drill,
    Event,
    Look,
    Settled,
    Trouble,
)


@dataclass(frozen=True)
class Facts:
    """One drill so far. Scores are out of 100, times in seconds since the start.

    `passed_after` is None while nothing has passed; `score_in_time` is the last score before time
    was up; `shares` what part of each area's points is earned now; `made` every mistake that was
    named in some save, `mended` those that are gone, `left` those that are not; `setbacks` counts
    saves after which the score was lower. Where a drill began with mistakes, `settled` says what
    became of them. `blanks` are those of a sheet that are not right.
    """

    kind: str
    exercise: str
    minutes: float
    spent: float
    saves: int
    score: float
    best: float
    score_in_time: float
    passed: bool
    passed_after: float | None
    shares: Mapping[str, float]
    hints: Mapping[str, int]
    looked_up: int
    made: tuple[str, ...]
    mended: tuple[str, ...]
    left: tuple[str, ...]
    setbacks: int
    settled: Settled | None = None
    runs_code: bool = True
    blanks: tuple[Trouble, ...] = ()

    @property
    def hint_count(self) -> int:
        """Hints given, of whichever part."""
        return sum(self.hints.values())

    @property
    def own(self) -> tuple[str, ...]:
        """Of `made`, what was not planted."""
        planted = () if self.settled is None else (*self.settled.found, *self.settled.left)
        return tuple(name for name in self.made if name not in planted)

    @property
    def is_over(self) -> bool:
        """True where it took longer than the minutes that were given."""
        return self.spent > self.minutes * 60

    @property
    def in_time(self) -> bool:
        """True where everything passed before time was up."""
        return self.passed_after is not None and self.passed_after <= self.minutes * 60


def gather_facts(drill: Drill, events: Sequence[Event], look: Look | None, now: float) -> Facts:
    """The facts of a drill up to its end, or up to now; a talk ends before it is marked."""
    end = clock.stop(events, now)
    saves = [event for event in events if event.what == GRADED]
    graded = [event for event in saves if not event.data["refusal"]]
    scores = [float(event.data["score"]) for event in graded]
    in_time = [e.data["score"] for e in graded if clock.left(drill, min(e.at, end)) >= 0]
    passed = [clock.spent(drill, min(e.at, end)) for e in graded if e.data["passed"]]
    named = [name for event in graded for name in event.data["mistakes"]]
    left = tuple(graded[-1].data["mistakes"]) if graded else ()
    kind = KINDS[drill.kind]
    settled = kind.settle(drill, look)
    if settled is not None:
        # What else was named is what the planted ones look like.
        broken = [name for name in settled.broken if name in named]
        named = [*settled.found, *settled.left, *broken]
        left = (*settled.left, *broken)
    made = tuple(dict.fromkeys(named))
    return Facts(
        kind=drill.kind,
        exercise=drill.exercise,
        minutes=drill.minutes,
        spent=clock.spent(drill, end),
        saves=len(saves),
        score=look.score if look else 0.0,
        best=max(scores, default=0.0),
        score_in_time=in_time[-1] if in_time else 0.0,
        passed=look is not None and look.passed,
        passed_after=min(passed, default=None),
        shares=_share(look),
        hints=Counter(str(e.data["part"]) for e in events if e.what == HINTED),
        looked_up=sum(event.what == LOOKED_UP for event in events),
        made=made,
        mended=tuple(name for name in made if name not in left),
        left=left,
        settled=settled,
        runs_code=kind.runs_code,
        blanks=tuple(t for t in look.troubles if t.kind == "blank") if look else (),
        # To mark oneself down after a talk makes no file worse.
        setbacks=0 if kind.is_talk else sum(b < a for a, b in itertools.pairwise(scores)),
    )


def _share(look: Look | None) -> dict[str, float]:
    """The part of each area's points that is earned, of areas that have any."""
    report = look.report if look else None
    if report is None or report.refusal is not None:
        return {}
    there = {area: report.available(area) for area in report.areas}
    return {area: report.earned(area) / points for area, points in there.items() if points > 0}
