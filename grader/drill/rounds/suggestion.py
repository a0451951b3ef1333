"""What a typed answer seems to say of a question: points made, points missed, the trap, a mark."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from grader.drill.marking import Rule, find_claim, find_point, parse_rule, read_answer
from grader.files import read_data

FOLDER = Path(__file__).resolve().parent


class Mark(str, Enum):
    """How well an answer went, in the four words of `fsrs`."""

    AGAIN = "again"
    HARD = "hard"
    GOOD = "good"
    EASY = "easy"


@dataclass(frozen=True)
class Suggestion:
    """What the rules found in an answer; a suggestion, since they know words and no meaning.

    Points are counted from 0, as in `Question.points`. `quotes` has for each point made the words
    of the answer that seem to make it, `trap` those that seem to state the trap. `is_cut` says that
    the answer was longer than what is read.
    """

    question: str
    covered: tuple[int, ...]
    missed: tuple[int, ...]
    quotes: tuple[tuple[str, ...], ...]
    trap: tuple[str, ...]
    mark: Mark
    is_cut: bool = False


@dataclass(frozen=True)
class Marking:
    """The rules of one question: alternatives for each point, and for the trap."""

    points: tuple[tuple[Rule, ...], ...]
    trap: tuple[Rule, ...]


@functools.cache
def load_markings() -> Mapping[str, Marking]:
    """The rules of every question by its id."""
    return {
        name: Marking(tuple(_rules(point) for point in raw["points"]), _rules(raw["trap"]))
        for name, raw in read_data(FOLDER / "rules.yaml").items()
    }


def suggest(question: str, text: str) -> Suggestion:
    """What an answer to the question with this id seems to say, in whichever language it is."""
    marking, answer = load_markings()[question], read_answer(text)
    found = [find_point(answer, rules) for rules in marking.points]
    trap = find_claim(answer, marking.trap)
    return Suggestion(
        question=question,
        covered=tuple(point for point, quotes in enumerate(found) if quotes),
        missed=tuple(point for point, quotes in enumerate(found) if not quotes),
        quotes=tuple(quotes for quotes in found if quotes),
        trap=trap,
        mark=choose_mark(sum(map(bool, found)), len(found), bool(trap)),
        is_cut=answer.is_cut,
    )


def choose_mark(covered: int, points: int, met_trap: bool) -> Mark:
    """Again for no point, easy for all, good for all but one; with the trap hard at best.

    Good puts a question off for long, and with it whatever point was not recalled.
    """
    if not covered:
        return Mark.AGAIN
    missed = points - covered
    if met_trap or missed > 1:
        return Mark.HARD
    return Mark.GOOD if missed else Mark.EASY


def _rules(lines: str | list[str]) -> tuple[Rule, ...]:
    return tuple(parse_rule(line) for line in ([lines] if isinstance(lines, str) else lines))
