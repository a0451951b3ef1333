"""What is due when: a card of the fsrs package for each exercise, mistake and question.

Cards are worked out anew from what was noted, so there is no second account that could differ.
Intervals are not varied at random: the same history gives the same days.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from grader.drill.facts import Facts
from grader.drill.model import REVIEWED, Event

if TYPE_CHECKING:
    from fsrs import Card

AGAIN, HARD, GOOD, EASY = RATINGS = (1, 2, 3, 4)
EXERCISE, MISTAKE, QUESTION = "exercise", "mistake", "question"
IMPLEMENT = "implement"


@dataclass(frozen=True)
class Due:
    """One card: what it is about (<kind>:<id>), when it is due, how often it came up."""

    key: str
    at: float
    reviews: int

    @property
    def kind(self) -> str:
        """exercise, mistake or question."""
        return self.key.partition(":")[0]

    @property
    def id(self) -> str:
        """The id of that."""
        return self.key.partition(":")[2]


def schedule(events: Sequence[Event]) -> list[Due]:
    """Every card there is, the one that is due first first."""
    cards, counts = _deal(events)
    found = [Due(key, card.due.timestamp(), counts[key]) for key, card in cards.items()]
    return sorted(found, key=lambda due: (due.at, due.key))


def rate(facts: Facts, known: Collection[str]) -> Iterator[tuple[str, int]]:
    """What a drill says of each card: the exercise, and mistakes made or, once made, avoided."""
    yield f"{EXERCISE}:{name_practice(facts.kind, facts.exercise)}", _rate_exercise(facts)
    for name in facts.made:
        mended = HARD if facts.hint_count else GOOD
        yield f"{MISTAKE}:{name}", AGAIN if name in facts.left else mended
    if facts.passed and facts.runs_code:
        made = {f"{MISTAKE}:{name}" for name in facts.made}
        yield from ((k, GOOD) for k in sorted(known) if k.startswith(MISTAKE) and k not in made)


def name_practice(kind: str, exercise: str) -> str:
    """The id of a kind of drill on an exercise; to implement it is what the others add to."""
    return exercise if kind == IMPLEMENT else f"{kind}/{exercise}"


def read_practice(name: str) -> tuple[str, str]:
    """The kind and the exercise of such an id."""
    kind, _, exercise = name.rpartition("/")
    return kind or IMPLEMENT, exercise


def _rate_exercise(facts: Facts) -> int:
    if not facts.passed:
        return AGAIN
    if facts.hint_count or facts.looked_up or not facts.in_time:
        return HARD
    assert facts.passed_after is not None
    return EASY if facts.passed_after <= facts.minutes * 30 else GOOD


def _deal(events: Sequence[Event]) -> tuple[Mapping[str, Card], Mapping[str, int]]:
    # Imported here: most commands ask for nothing that is due.
    from fsrs import Card, Rating, Scheduler

    # Days at least: nobody writes attention again after ten minutes.
    scheduler = Scheduler(learning_steps=(), relearning_steps=(), enable_fuzzing=False)
    cards: dict[str, Card] = {}
    counts: dict[str, int] = {}
    for event in events:
        if event.what == REVIEWED:
            key, at = event.data["key"], datetime.fromtimestamp(event.at, timezone.utc)
            card = cards.get(key) or Card(card_id=len(cards), due=at)
            cards[key], _ = scheduler.review_card(card, Rating(event.data["rating"]), at)
            counts[key] = counts.get(key, 0) + 1
    return cards, counts
