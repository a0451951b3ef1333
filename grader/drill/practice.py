"""What to practise now: what is due, what was never tried, and when there is something again."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from grader.bank import exercise_ids
from grader.drill.facts import gather_facts
from grader.drill.follow_up import Asked, check_rating, rate_question
from grader.drill.kinds import KINDS
from grader.drill.model import REVIEWED, Event
from grader.drill.rounds import Suggestion, suggest
from grader.drill.schedule import (
    EXERCISE,
    IMPLEMENT,
    MISTAKE,
    QUESTION,
    Due,
    read_practice,
    schedule,
)
from grader.drill.store import Store
from grader.errors import UsageError
from grader.questions import load_questions
from grader.texts import Texts


@dataclass(frozen=True)
class Practice:
    """Cards that are due and those not yet, each in order; exercises and kinds never finished."""

    due: tuple[Due, ...]
    later: tuple[Due, ...]
    untried: tuple[str, ...]
    new_kinds: tuple[str, ...] = ()


def plan_practice(store: Store, now: float) -> Practice:
    """What there is to practise; what is no longer in use, such as a question, is left out."""
    known = [card for card in schedule(store.events()) if _is_known(card)]
    tried = {card.id for card in known if card.kind == EXERCISE}
    return Practice(
        tuple(card for card in known if card.at <= now),
        tuple(card for card in known if card.at > now),
        tuple(name for name in exercise_ids() if name not in tried),
        tuple(kind for kind in KINDS if kind not in {read_practice(name)[0] for name in tried}),
    )


def choose_due(store: Store, now: float) -> tuple[str, str]:
    """Kind and exercise for a drill of what is due; raises UsageError where there is none.

    For a mistake they are those of the drill in which it was made last.
    """
    practice = plan_practice(store, now)
    for card in practice.due:
        if card.kind == EXERCISE:
            return read_practice(card.id)
        if card.kind == MISTAKE and (found := _made_in(store, card.id, now)):
            return found
    if practice.untried:
        return IMPLEMENT, practice.untried[0]
    only_questions = any(card.kind == QUESTION for card in practice.due)
    raise UsageError("drill.due.questions" if only_questions else "drill.due.nothing")


def write_practice(practice: Practice, texts: Texts) -> list[str]:
    """What is due, one line each with the command for it; then what comes later."""
    lines = [texts("drill.next.title")] if practice.due else [texts("drill.next.nothing")]
    lines += ["  " + _write_card(card, texts) for card in practice.due]
    if any(card.kind == QUESTION for card in practice.due):
        lines.append("  " + texts("drill.next.questions"))
    lines += [texts("drill.next.new", id=name) for name in practice.untried]
    for kind in practice.new_kinds:
        if kind != IMPLEMENT:
            lines.append(texts("drill.next.kind", kind=texts(f"drill.kind.{kind}"), name=kind))
    if practice.later:
        card = practice.later[0]
        exercise = read_practice(card.id)[1]
        what = texts(f"drill.next.later-{card.kind}", id=card.id, exercise=exercise)
        date = time.strftime("%Y-%m-%d", time.localtime(card.at))
        lines.append(texts("drill.next.later", what=what, date=date))
    return lines


def _write_card(card: Due, texts: Texts) -> str:
    if card.kind == QUESTION:
        question = load_questions(texts.language)[card.id].question
        return texts("drill.next.question", question=question)
    if card.kind == MISTAKE:
        return texts("drill.next.mistake", id=card.id, mistake=card.id)
    kind, exercise = read_practice(card.id)
    named = {"kind": texts(f"drill.kind.{kind}"), "exercise": exercise}
    return texts("drill.next.exercise", **named, name=kind, id=exercise)


def _is_known(card: Due) -> bool:
    if card.kind == EXERCISE:
        kind, exercise = read_practice(card.id)
        return kind in KINDS and exercise in exercise_ids()
    return card.kind == MISTAKE or card.id in load_questions("en")


def _made_in(store: Store, mistake: str, now: float) -> tuple[str, str] | None:
    known = exercise_ids()
    for drill in reversed(store.drills()):
        made = gather_facts(drill, store.events(drill.id), None, now).made
        if mistake in made and drill.exercise in known:
            return drill.kind, drill.exercise
    return None


class DueQuestions:
    """A round of the questions that are due, of whichever drill."""

    def __init__(self, store: Store, texts: Texts, now: Callable[[], float] = time.time) -> None:
        self.store = store
        self.texts = texts
        self.now = now
        practice = plan_practice(store, now())
        self._left = [card.id for card in practice.due if card.kind == QUESTION]
        self._count = len(self._left)

    def ask(self) -> Asked | None:
        """The next one, None at the end."""
        if not self._left:
            return None
        question = load_questions(self.texts.language)[self._left[0]]
        return Asked(question.question, question, self._count - len(self._left) + 1, self._count)

    def answer(self, text: str) -> Suggestion:
        """What a typed answer seems to say; outside of a drill only its mark is kept."""
        return suggest(self._left[0], text)

    def skip(self) -> None:
        """Go on without a mark; it stays due."""
        self._left.pop(0)

    def mark(self, rating: int) -> None:
        """One's own mark for the answer, from 1 (again) to 4 (easy)."""
        check_rating(rating)
        data = rate_question(self._left.pop(0), rating)
        self.store.note([Event("", self.now(), REVIEWED, data)])
