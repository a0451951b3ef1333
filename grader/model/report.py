"""What was decided, and the report that every format is made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

from grader.model.candidate import Submission

if TYPE_CHECKING:
    # Most reports have none, and most runs need not know what it is.
    from grader.model.evidence import Evidence


class Outcome(str, Enum):
    """The decision on a case. `failed` costs points; `error` is ours and never does."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    ERROR = "error"
    NOT_APPLICABLE = "not-applicable"


@dataclass(frozen=True)
class Message:
    """A fact on its way to a reader: the key of a sentence in texts/, and its values."""

    key: str
    fields: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Verdict:
    """The decision on one case; `mistake` is the id of the known fault that explains it."""

    case: str
    area: str
    outcome: Outcome
    points: float
    max_points: float
    message: Message | None = None
    mistake: str | None = None


@dataclass(frozen=True)
class Isolation:
    """How far the submission was shut in: a level, the layers in force, and those that are not."""

    level: str
    layers: tuple[str, ...]
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class Printed:
    """What the candidate's code wrote in its first worker: the first part, and the bytes in all."""

    text: str
    size: int


@dataclass(frozen=True)
class Departure:
    """Where a file leaves the way of a right attention: the line, the sentence, the case."""

    line: int
    message: Message
    case: str = ""


@dataclass(frozen=True)
class NamedMistake:
    """A known mistake, the line it is at as far as that is known, and the cases it explains.

    `alternatives` are mistakes that explain them just as well.
    """

    mistake: str
    line: int | None
    cases: tuple[str, ...]
    alternatives: tuple[str, ...] = ()


@dataclass(frozen=True)
class Stride:
    """One line of the shape walk: the variable, what was done, the shape in letters, what it is."""

    line: int
    name: str
    operation: str
    shape: str
    what: str


@dataclass(frozen=True)
class Diagnosis:
    """What is wrong and where, and the way of the shapes through the file."""

    mistakes: tuple[NamedMistake, ...] = ()
    departures: tuple[Departure, ...] = ()
    walk: tuple[Stride, ...] = ()


# The exercise of files that answer none.
FREE = "free"
# Refusals that are no fault of the file's.
FAULTS_OF_OURS = ("error.grader", "course.lost", "zygote.gone", "zygote.failed", "zygote.no-torch")
# What is said of cases that need values, in a file whose values cannot be known.
UNJUDGED = "not-offered.positions"
UNCHARGED = (Outcome.ERROR, Outcome.NOT_APPLICABLE)


@dataclass(frozen=True)
class Report:
    """All that is known about one graded submission; every format is made from this.

    `flags` are words in its text that a person may want to look at; nothing follows from them.
    `evidence` is None unless pictures were asked for.
    `seed` is None in what a student sees: it would pose the hidden cases again.
    """

    submission: Submission
    exercise: str
    seed: int | None
    verdicts: tuple[Verdict, ...]
    areas: Mapping[str, float]
    convention: tuple[Message, ...]
    isolation: Isolation
    environment: Mapping[str, str]
    printed: Printed
    seconds: float
    bank: str = ""
    refusal: Message | None = None
    diagnosis: Diagnosis = Diagnosis()
    follow_ups: tuple[str, ...] = ()
    flags: tuple[tuple[str, int], ...] = ()
    evidence: Evidence | None = None

    def earned(self, area: str) -> float:
        """Points earned in one area."""
        return round(sum(v.points for v in self.verdicts if v.area == area), 4)

    def available(self, area: str) -> float:
        """The area's points, without those of cases that could not be judged."""
        lost = sum(v.max_points for v in self.verdicts if v.area == area and v.outcome in UNCHARGED)
        return round(self.areas[area] - lost, 4)

    @property
    def is_free(self) -> bool:
        """True for a file that was judged by its own convention."""
        return self.exercise == FREE

    @property
    def max_score(self) -> float:
        """The points an exercise has, whatever could be judged."""
        return 100.0

    @property
    def score(self) -> float:
        """Points earned, out of 100, over the cases that could be judged.

        Cases lost to the grader's own fault or not offered by the file leave the sum on both
        sides; with nothing left to judge the score is 0.
        """
        counted = [v for v in self.verdicts if v.outcome not in UNCHARGED]
        possible = sum(v.max_points for v in counted)
        earned = sum(v.points for v in counted)
        return round(self.max_score * earned / possible, 2) if possible else 0.0

    @property
    def is_unjudged(self) -> bool:
        """True where no values could be judged, so that the score says little."""
        return any(v.message and v.message.key == UNJUDGED for v in self.verdicts)

    @property
    def all_passed(self) -> bool:
        """True when every case that applies passed, and none only by following a mistake.

        Where no values could be judged, nothing is known.
        """
        if self.is_unjudged:
            return False
        judged = [v for v in self.verdicts if v.outcome is not Outcome.NOT_APPLICABLE]
        return bool(judged) and all(v.outcome is Outcome.PASSED and not v.message for v in judged)

    @property
    def has_errors(self) -> bool:
        """True when the grader failed on a case, or on the whole file."""
        ours = self.refusal is not None and self.refusal.key in FAULTS_OF_OURS
        return ours or any(v.outcome is Outcome.ERROR for v in self.verdicts)
