"""The four-minute spoken version: parts with their seconds, and the points to mark oneself by."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.bank.loader import load_exercise
from grader.drill.marking import Rule, parse_rule
from grader.files import read_data
from grader.model import Contract

FOLDER = Path(__file__).resolve().parent
SECONDS = 240


@dataclass(frozen=True)
class Part:
    """A stretch of the talk: its id, how many seconds it has, and the ids of its points."""

    id: str
    seconds: int
    points: tuple[str, ...]


@dataclass(frozen=True)
class Outline:
    """The talk about one exercise; `kinds` are what of its contract the words depend on."""

    exercise: str
    kinds: tuple[str, ...]
    parts: tuple[Part, ...]
    slips: tuple[str, ...]

    @property
    def seconds(self) -> int:
        """How long the whole talk takes."""
        return sum(part.seconds for part in self.parts)

    @property
    def points(self) -> tuple[str, ...]:
        """The ids of all points in the order in which they are to be said."""
        return tuple(point for part in self.parts for point in part.points)


def outline(exercise: str) -> Outline:
    """The outline for an exercise of the bank, made of what its contract says."""
    kinds = _kinds(load_exercise(exercise).contract)
    parts = tuple(
        Part(name, _seconds(raw["seconds"], kinds), tuple(_fit(raw["points"], kinds)))
        for name, raw in load_base()["parts"].items()
    )
    return Outline(exercise, kinds, parts, tuple(_fit(load_base()["slips"], kinds)))


@functools.cache
def load_base() -> Mapping[str, Any]:
    """What all outlines are made of, as it stands in base.yaml."""
    found: dict[str, Any] = read_data(FOLDER / "base.yaml")
    return found


@functools.cache
def load_rules() -> Mapping[str, tuple[Rule, ...]]:
    """The rules that find each point and each slip in a transcript, by its id."""
    base = load_base()
    points = (point for part in base["parts"].values() for point in part["points"].items())
    return {
        name: tuple(parse_rule(line) for line in raw["rules"])
        for name, raw in (*points, *base["slips"].items())
    }


def _kinds(contract: Contract) -> tuple[str, ...]:
    return (
        "cross" if len(contract.inputs) > 1 else "self",
        "causal" if contract.causal else "open",
    )


def _seconds(seconds: Mapping[str, int], kinds: Collection[str]) -> int:
    return next((seconds[kind] for kind in kinds if kind in seconds), seconds["any"])


def _fit(found: Mapping[str, Any], kinds: Collection[str]) -> Iterator[str]:
    """The ids of what belongs to all of these kinds: `for` names those that it needs."""
    return (name for name, raw in found.items() if set(raw.get("for", ())) <= set(kinds))
