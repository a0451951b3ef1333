"""The types of a drill, all frozen, all of them data; nothing here does anything."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from grader.model import Message, Report, Submission
from grader.texts import Texts

# What has happened, by name.
GRADED, HINTED, LOOKED_UP = "graded", "hinted", "looked-up"
OVERTIME, TALKED, FINISHED = "overtime", "talked", "finished"
ASKED, ANSWERED, PASSED_OVER = "asked", "answered", "passed-over"
MARKED, REVIEWED = "marked", "reviewed"


@dataclass(frozen=True)
class Drill:
    """One drill as it was planned at its start; times are seconds since the epoch.

    `plan` is the kind's own, and plain data: what was planted, say, or where the blanks are.
    """

    id: str
    kind: str
    exercise: str
    folder: str
    file: str
    seed: int
    minutes: float
    level: str
    language: str
    started: float
    plan: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Event:
    """Something that happened in a drill, and when; `data` is plain."""

    drill: str
    at: float
    what: str
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Trouble:
    """One thing that is wrong: a known mistake by its id, or an area that loses points.

    A crash is what keeps other cases from being judged, by the case that they build on. In a
    sheet it is a blank, by the name beside it; in a talk a point that was not made. `line` is
    where, as far as that is known; `said` what the first case of it says, `wanted` what is right.
    Of a blank, `given` is what stands in it, and `state` what became of it.
    """

    kind: str
    id: str
    line: int | None = None
    said: Message | None = None
    wanted: str = ""
    given: str = ""
    state: str = ""

    @property
    def key(self) -> str:
        """mistake:<id> or area:<id>, as follow-up questions have it."""
        return f"{self.kind}:{self.id}"


@dataclass(frozen=True)
class Look:
    """What one save is worth.

    `score` is out of 100, `change` since the save before (None at the first), `lost` the points
    lost by area, the dearest first. `refusal` says why there is no grade, as for half a file.
    `report` is None where no code is graded.
    """

    sha256: str
    score: float
    passed: bool
    lost: Mapping[str, float] = field(default_factory=dict)
    troubles: tuple[Trouble, ...] = ()
    refusal: Message | None = None
    report: Report | None = None
    change: float | None = None


@dataclass(frozen=True)
class Hint:
    """One hint: what about, which part of the page (hint, pointer, fix), and the words.

    `number` counts the hints of this drill; `left` is False once there is no more about it.
    """

    about: str
    part: str
    text: str
    number: int
    left: bool


@dataclass(frozen=True)
class Prepared:
    """What a kind gives a new drill: the file's name and text, and its plan."""

    exercise: str
    file: str
    text: str
    plan: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Settled:
    """What became of what a drill began with: found and mended, left, and broken in passing.

    `found` and `left` are mistakes by their ids; `broken` too, or cases where no name is known.
    """

    found: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()


Grade = Callable[[Submission], Report]


class Kind(Protocol):
    """What differs between kinds of drills: the start, a save, the end."""

    # Minutes where none are asked for; whether files run; whether it is a talk, which is marked by
    # oneself once it is over.
    minutes: float
    runs_code: bool
    is_talk: bool

    def prepare(self, exercise: str, seed: int) -> Prepared:
        """The file to begin with; raises UsageError for an exercise without one."""
        ...

    def task(self, drill: Drill, texts: Texts) -> str:
        """The task as an interviewer would say it, in paragraphs."""
        ...

    def look(self, drill: Drill, submission: Submission, grade: Grade) -> Look:
        """What this file is worth; `grade` runs code in the sandbox."""
        ...

    def settle(self, drill: Drill, look: Look | None) -> Settled | None:
        """What became of what the drill began with; None where it began with nothing wrong."""
        ...
