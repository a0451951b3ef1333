"""Follow-up questions: what an interviewer may ask next, chosen from what was seen in a file."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from grader.errors import UsageError
from grader.files import read_data

FOLDER = Path(__file__).resolve().parent
FACTS = "bank"
FIRST_ROUND, SENIOR = LEVELS = ("first-round", "senior")
FEWEST, MOST = 3, 5
# Most questions about one thing that was seen, by kind; kinds in the order of their claim.
SHARES = {"mistake": 2, "area": 1, "seen": 1}


@dataclass(frozen=True)
class Question:
    """One question in one language; `after` names what makes it apt, as <kind>:<id>."""

    id: str
    level: str
    topic: str
    source: str
    after: tuple[str, ...]
    question: str
    points: tuple[str, ...]
    trap: str


def languages() -> tuple[str, ...]:
    """The languages there are questions in."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.yaml") if path.stem != FACTS))


def check_language(language: str) -> None:
    """Raise UsageError for a language there are no questions in."""
    if language not in languages():
        raise UsageError("usage.language", wanted=language, known=", ".join(languages()))


@functools.cache
def load_questions(language: str) -> Mapping[str, Question]:
    """Every question by id; raises UsageError for a language there is no file for."""
    check_language(language)
    facts, words = _read(FACTS), _read(language)
    return MappingProxyType({name: _question(name, facts[name] | words[name]) for name in facts})


def choose(
    after: Collection[str], seed: int, count: int = 4, levels: Collection[str] = LEVELS
) -> list[str]:
    """The ids of three to five questions about what was seen, the same for the same seed.

    Mistakes come first, then areas that lost points, then right choices, then what one asks
    anybody in a first round. No topic comes twice unless no other is left.
    """
    fit = (one for one in load_questions("en").values() if one.level in levels)
    bank = sorted(fit, key=lambda one: rank(seed, one.id))
    count = min(max(count, FEWEST), MOST)
    named = {label for one in bank for label in one.after}.intersection(after)
    seen = sorted(named, key=lambda label: rank(seed, label))
    chosen: list[Question] = []
    for is_strict in (True, False):
        for label, turn in _turns(seen, count):
            if len(chosen) < count and _about(label, chosen) <= turn:
                chosen += _best(label, turn, _free(bank, chosen, seen, is_strict))
    return [one.id for one in chosen]


def _turns(seen: list[str], count: int) -> Iterator[tuple[str, int]]:
    """What the next question should be about, and how many such there may be already."""
    for kind, share in SHARES.items():
        for turn in range(share):
            yield from ((label, turn) for label in seen if label.startswith(f"{kind}:"))
    for level in LEVELS:
        yield from ((level, turn) for turn in range(count))


def _free(
    bank: list[Question], chosen: list[Question], seen: list[str], is_strict: bool
) -> list[Question]:
    """Those that may still be chosen: no mistake takes more than its share, nor a topic two."""
    topics = {one.topic for one in chosen} if is_strict else set()
    mistakes = [label for label in seen if label.startswith("mistake:")]
    full = {label for label in mistakes if _about(label, chosen) >= SHARES["mistake"]}
    return [
        one
        for one in bank
        if one not in chosen and one.topic not in topics and full.isdisjoint(one.after)
    ]


def _best(label: str, turn: int, free: list[Question]) -> list[Question]:
    """The first about `label`, or none; what went wrong is first asked about in plain terms."""
    fit = [one for one in free if label in (one.level, *one.after)]
    if turn == 0 and not label.startswith("seen:"):
        fit.sort(key=lambda one: one.level != FIRST_ROUND)
    return fit[:1]


def _about(label: str, questions: list[Question]) -> int:
    return sum(label in (one.level, *one.after) for one in questions)


def rank(seed: int, name: str) -> bytes:
    """Where a name stands among others: any order, the same for the same seed."""
    # Not random.shuffle: a question more must not change the order of all the others.
    return hashlib.sha256(f"{seed} {name}".encode()).digest()


def _read(name: str) -> dict[str, Any]:
    found: dict[str, Any] = read_data(FOLDER / f"{name}.yaml")
    return found


def _question(name: str, fields: dict[str, Any]) -> Question:
    lists = {key: tuple(fields[key]) for key in ("after", "points")}
    return Question(id=name, **fields | lists)
