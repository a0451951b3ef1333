"""What was planted, and what a candidate made of it: data, JSON-able as it stands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from grader.mistakes import read_statements


@dataclass(frozen=True)
class Spot:
    """One planted mistake: its line in the source, and the statements there, right and wrong.

    Statements are as `Statement.said` has them: `forward> scores = q @ k.mT`. Where something was
    left out there is nothing wrong to see, and the line is the one that now stands in its place.
    """

    mistake: str
    line: int
    right: tuple[str, ...]
    wrong: tuple[str, ...]


@dataclass(frozen=True)
class Planted:
    """A drill: `source` is what the candidate gets, `answer` the right file that it came from."""

    exercise: str
    source: str
    answer: str
    spots: tuple[Spot, ...]

    @property
    def mistakes(self) -> tuple[str, ...]:
        """The ids of what was planted, from the top of the file to its end."""
        return tuple(spot.mistake for spot in self.spots)

    @property
    def lines(self) -> tuple[int, ...]:
        """The line of each of them in the source."""
        return tuple(spot.line for spot in self.spots)

    @classmethod
    def restore(cls, data: Mapping[str, Any]) -> Planted:
        """What `dataclasses.asdict` made of one, from JSON and back."""
        spots = [
            Spot(row["mistake"], row["line"], tuple(row["right"]), tuple(row["wrong"]))
            for row in data["spots"]
        ]
        return cls(data["exercise"], data["source"], data["answer"], tuple(spots))


@dataclass(frozen=True)
class Broken:
    """What is wrong and was not planted: a mistake, as far as it has a name, and its cases."""

    mistake: str | None
    line: int | None
    cases: tuple[str, ...]


@dataclass(frozen=True)
class Repair:
    """Planted mistakes that are gone, those that are left, and what was broken in passing."""

    found: tuple[str, ...]
    left: tuple[str, ...]
    broken: tuple[Broken, ...] = ()

    @property
    def is_complete(self) -> bool:
        """True when nothing is left and nothing was broken."""
        return not self.left and not self.broken


def count_statements(source: str) -> Counter[str]:
    """Every statement of a file as `Spot` has them, and how often it stands there."""
    return Counter(statement.said for statement in read_statements(source))
