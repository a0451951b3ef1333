"""What comes after an answer: deeper, the bridge, or the challenge."""

from __future__ import annotations

from dataclasses import replace
from enum import Enum

from grader.drill.rounds.plan import ASK, CHALLENGE, LAYERED, Link, Round, Step, load_chains
from grader.drill.rounds.suggestion import Mark, Suggestion


class Outcome(str, Enum):
    """What an answer was for the chain: its point made, missed, or the trap stated."""

    COVERED = "covered"
    MISSED = "missed"
    TRAP = "trap"


def judge(step: Step, suggestion: Suggestion) -> Outcome:
    """What a typed answer seems to have been."""
    if suggestion.trap:
        return Outcome.TRAP
    if step.form != LAYERED:
        return judge_mark(suggestion.mark)
    made = _link(step).turns_on in suggestion.covered
    return Outcome.COVERED if made else Outcome.MISSED


def judge_mark(mark: Mark) -> Outcome:
    """What a spoken answer was, by the mark that the candidate gave it."""
    return Outcome.COVERED if mark in (Mark.GOOD, Mark.EASY) else Outcome.MISSED


def next_step(plan: Round, step: Step, outcome: Outcome) -> Step | None:
    """The step after this one, or None at the end of the round.

    In a chain the trap is challenged once, and then the chain goes on: deeper if the answer made
    the point, with the bridge if not. Elsewhere the plan goes on whatever the answer was.
    """
    if step.form != LAYERED:
        return _planned_after(plan, step)
    if outcome is Outcome.TRAP and step.turn == ASK:
        return replace(step, turn=CHALLENGE, lead="")
    kind = "deeper" if outcome is Outcome.COVERED else "bridge"
    lead = f"{step.script}.{step.question}.{kind}"
    link = _link_after(step, outcome)
    if link is not None:
        return Step(LAYERED, link.question, step.script, ASK, lead)
    following = _planned_after(plan, step)
    return following and replace(following, lead=lead)


def place(plan: Round, step: Step) -> tuple[int, int]:
    """Which question this is, from 1, and how many there are at most: all links of the chain."""
    asked: list[str] = []
    for one in plan.steps:
        links = load_chains()[one.script].questions if one.form == LAYERED else (one.question,)
        asked += links
    return asked.index(step.question) + 1, len(asked)


def _link(step: Step) -> Link:
    links = load_chains()[step.script].links
    return next(link for link in links if link.question == step.question)


def _link_after(step: Step, outcome: Outcome) -> Link | None:
    links = load_chains()[step.script].links
    later = links[links.index(_link(step)) + 1 :]
    return next((one for one in later if outcome is Outcome.COVERED or not one.is_deeper), None)


def _planned_after(plan: Round, step: Step) -> Step | None:
    place = next(place for place, one in enumerate(plan.steps) if _is_of(step, one))
    return plan.steps[place + 1] if place + 1 < len(plan.steps) else None


def _is_of(step: Step, planned: Step) -> bool:
    """True where a step is the planned one, or stands in the same chain."""
    if step.form == LAYERED:
        return (planned.form, planned.script) == (LAYERED, step.script)
    return (planned.form, planned.question) == (step.form, step.question)
