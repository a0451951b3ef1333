"""The plan of a follow-up round: a scenario, a chain of layered questions, and direct ones."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.files import read_data
from grader.questions import FIRST_ROUND, LEVELS, MOST, SENIOR, choose, load_questions, rank

FOLDER = Path(__file__).resolve().parent
SCENARIO, LAYERED, DIRECT = FORMS = ("scenario", "layered", "direct")
ASK, CHALLENGE = "ask", "challenge"
DIRECT_QUESTIONS = 2


@dataclass(frozen=True)
class Step:
    """One thing that the interviewer says and that is to be answered.

    `question` is the id in the bank whose points and trap it is about, `script` the scenario or
    chain it comes from, `turn` says whether it asks or challenges. `lead` is what is said first
    about the answer before, as <chain>.<question>.deeper or <chain>.<question>.bridge.
    """

    form: str
    question: str
    script: str = ""
    turn: str = ASK
    lead: str = ""


@dataclass(frozen=True)
class Round:
    """What is planned: each scenario and direct question, and of the chain its first link."""

    seed: int
    level: str
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Link:
    """One question of a chain and the point it turns on, from 0.

    A deeper one is asked only after an answer that made its point.
    """

    question: str
    turns_on: int
    is_deeper: bool


@dataclass(frozen=True)
class Chain:
    """Questions of which each answer leads to the next."""

    level: str
    links: tuple[Link, ...]

    @property
    def questions(self) -> tuple[str, ...]:
        """The ids of its questions in their order."""
        return tuple(link.question for link in self.links)


def plan_round(facts: Collection[str], seed: int, level: str) -> Round:
    """A round about what was seen, as `choose` takes it, the same for the same seed.

    No question comes twice. In a first round all are of that level; a senior round has a senior
    chain, and senior questions first.
    """
    levels = (FIRST_ROUND,) if level == FIRST_ROUND else LEVELS
    apt = choose(facts, seed, MOST, levels)
    apt.sort(key=lambda one: level == SENIOR and _level(one) != SENIOR)
    scenario, chain = _best_pair(apt, seed, level, levels)
    asked = load_scenarios()[scenario]
    links = load_chains()[chain].questions
    # More than one choice is looked at, since scenario and chain may have taken all of the first.
    more = (one for turn in range(1, MOST) for one in choose(facts, seed + turn, MOST, levels))
    direct = _first((*apt, *more), DIRECT_QUESTIONS, without=(asked, *links))
    steps = (
        Step(SCENARIO, asked, scenario),
        Step(LAYERED, links[0], chain),
        *(Step(DIRECT, question) for question in direct),
    )
    return Round(seed, level, steps)


@functools.cache
def load_scenarios() -> Mapping[str, str]:
    """The question that each scenario leads into, by the scenario's id."""
    found: dict[str, str] = read_data(FOLDER / "scenarios.yaml")
    return found


@functools.cache
def load_chains() -> Mapping[str, Chain]:
    """Every chain by its id."""
    return {
        name: Chain(
            raw["level"],
            tuple(
                Link(link["question"], link["turns_on"] - 1, link.get("only") == "deeper")
                for link in raw["links"]
            ),
        )
        for name, raw in read_data(FOLDER / "chains.yaml").items()
    }


def _best_pair(
    apt: Sequence[str], seed: int, level: str, levels: Collection[str]
) -> tuple[str, str]:
    """The scenario and the chain that together ask most of what is apt, and nothing twice."""
    pairs = [
        (scenario, chain)
        for scenario, question in load_scenarios().items()
        for chain, links in load_chains().items()
        if _level(question) in levels and links.level == level and question not in links.questions
    ]
    ordered = sorted(pairs, key=lambda pair: rank(seed, " ".join(pair)))
    return max(ordered, key=lambda pair: _aptness(pair, apt))


def _aptness(pair: tuple[str, str], apt: Sequence[str]) -> int:
    """The more, the earlier its questions stand among the apt ones."""
    scenario, chain = pair
    asked = {load_scenarios()[scenario], *load_chains()[chain].questions}
    return sum(len(apt) - place for place, question in enumerate(apt) if question in asked)


def _first(questions: Iterable[str], count: int, without: Collection[str]) -> list[str]:
    return [one for one in dict.fromkeys(questions) if one not in without][:count]


def _level(question: str) -> str:
    return load_questions("en")[question].level
