"""The follow-up round of one drill: what is asked now, what an answer comes to, what is asked next.

Where the round stands follows from what was noted, so it goes on in whichever process.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Protocol

from grader.choices import see_report
from grader.drill.model import ANSWERED, ASKED, MARKED, PASSED_OVER, REVIEWED, Drill, Event, Look
from grader.drill.rounds import (
    CHALLENGE,
    Mark,
    Outcome,
    Round,
    Step,
    Suggestion,
    judge,
    judge_mark,
    next_step,
    place,
    plan_round,
    say,
    suggest,
)
from grader.drill.schedule import QUESTION, RATINGS
from grader.drill.store import Store
from grader.errors import UsageError
from grader.questions import Question, load_questions
from grader.texts import Texts

MARKS = dict(zip(Mark, RATINGS))


@dataclass(frozen=True)
class Asked:
    """What the interviewer says now, and the question of the bank that it is about.

    `number` of at most `count`; `before` is what was asked before it, where it goes on from there.
    """

    said: str
    question: Question
    number: int
    count: int
    before: str = ""


class Asker(Protocol):
    """Who asks: a drill that has ended, or all questions that are due."""

    texts: Texts

    def ask(self) -> Asked | None:
        """What is to be answered now, None at the end."""
        ...

    def answer(self, text: str) -> Suggestion | None:
        """What a typed answer seems to say; None where it is challenged."""
        ...

    def mark(self, rating: int) -> None:
        """One's own mark for the answer."""
        ...

    def skip(self) -> None:
        """Go on without a mark."""
        ...


@dataclass(frozen=True)
class _Place:
    """The step that a round is at, what its typed answer was, if any, and the step before."""

    plan: Round
    step: Step | None
    outcome: Outcome | None
    before: Step | None


class FollowUp:
    """The round of a drill that has ended."""

    def __init__(
        self,
        store: Store,
        drill: Drill,
        texts: Texts,
        seen: Callable[[], tuple[Sequence[str], Look | None]],
        now: Callable[[], float],
    ) -> None:
        """`seen` gives the mistakes made on the way, and the last look at the file."""
        self.store = store
        self.drill = drill
        self.texts = texts
        self.now = now
        self._seen = seen

    def ask(self) -> Asked | None:
        """What is to be answered now, None at the end of the round."""
        now = self._stand()
        step, before = now.step, now.before
        if step is None:
            return None
        language = self.texts.language
        question = load_questions(language)[step.question]
        told = say(replace(before, lead=""), language) if before and step.lead else ""
        return Asked(say(step, language), question, *place(now.plan, step), told)

    def answer(self, text: str) -> Suggestion | None:
        """What a typed answer seems to say; None where it is challenged, and asked about again."""
        now, step = self._stand_at_step()
        suggestion = suggest(step.question, text)
        outcome = judge(step, suggestion)
        self._note(ANSWERED, question=step.question, text=text, outcome=outcome.value)
        return None if _challenge(now.plan, step, outcome) else suggestion

    def mark(self, rating: int) -> None:
        """One's own mark for the answer, from 1 (again) to 4 (easy); the round goes on."""
        check_rating(rating)
        now, step = self._stand_at_step()
        outcome = now.outcome or judge_mark(tuple(Mark)[rating - 1])
        data = {"question": step.question, "rating": rating, "outcome": outcome.value}
        rated = rate_question(step.question, rating)
        self.store.note([self._event(MARKED, **data), self._event(REVIEWED, **rated)])

    def skip(self) -> None:
        """Go on without a mark, as if its point had been missed."""
        _, step = self._stand_at_step()
        self._note(PASSED_OVER, question=step.question)

    def _stand_at_step(self) -> tuple[_Place, Step]:
        """Where the round stands, and its step; raises UsageError where it is over."""
        now = self._stand()
        if now.step is None:
            raise UsageError("drill.round.over")
        return now, now.step

    def _stand(self) -> _Place:
        events = self.store.events(self.drill.id)
        plan = _recall(events) or self._plan()
        step: Step | None = plan.steps[0] if plan.steps else None
        outcome = before = None
        for event in events:
            if step is None:
                break
            if event.what == ANSWERED:
                outcome = Outcome(event.data["outcome"])
                if challenge := _challenge(plan, step, outcome):
                    before, step, outcome = step, challenge, None
            elif event.what in (MARKED, PASSED_OVER):
                made = Outcome(event.data.get("outcome", Outcome.MISSED))
                before, step, outcome = step, next_step(plan, step, made), None
        return _Place(plan, step, outcome, before)

    def _plan(self) -> Round:
        """Planned once, from what was seen in the drill."""
        made, look = self._seen()
        facts = [f"mistake:{name}" for name in made]
        if look is not None and look.report is not None:
            facts += see_report(look.report)
        plan = plan_round(facts, self.drill.seed, self.drill.level)
        self._note(ASKED, **asdict(plan))
        return plan

    def _note(self, what: str, **data: Any) -> None:
        self.store.note([self._event(what, **data)])

    def _event(self, what: str, **data: Any) -> Event:
        return Event(self.drill.id, self.now(), what, data)


def check_rating(rating: int) -> None:
    """Refuse what is no mark."""
    if rating not in RATINGS:
        raise UsageError("drill.mark", wanted=rating)


def rate_question(name: str, rating: int) -> dict[str, Any]:
    """What the schedule takes of a mark for this question."""
    return {"key": f"{QUESTION}:{name}", "rating": rating}


def _challenge(plan: Round, step: Step, outcome: Outcome) -> Step | None:
    """What such an answer is challenged with, before there is any mark."""
    following = next_step(plan, step, outcome)
    return following if following is not None and following.turn == CHALLENGE else None


def _recall(events: Sequence[Event]) -> Round | None:
    """The round that was planned, if one was."""
    for event in events:
        if event.what == ASKED:
            kept = event.data
            return Round(kept["seed"], kept["level"], tuple(Step(**s) for s in kept["steps"]))
    return None
