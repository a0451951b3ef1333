"""Looks, reviews and questions as lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from grader.drill.clock import write_seconds
from grader.drill.closing import write_closing, write_notes, write_recommendation
from grader.drill.desk import Desk
from grader.drill.kinds import KINDS
from grader.drill.model import Hint, Look
from grader.drill.review import Review
from grader.reports.columns import wrap
from grader.reports.failures import number
from grader.texts import Texts


def write_time(desk: Desk) -> str:
    """The time that is left, or over."""
    left = desk.standing().left
    key = "drill.time-left" if left >= 0 else "drill.time-over"
    return desk.texts(key, time=write_seconds(left))


def write_keys(desk: Desk) -> str:
    """The keys there are in this kind of drill."""
    kind = KINDS[desk.drill.kind]
    keys = ("" if kind.is_talk else "h") + ("r" if kind.runs_code else "") + "tfq"
    return "   ".join(desk.texts(f"drill.key.{key}") for key in keys)


def write_task(desk: Desk) -> Iterator[str]:
    """The task, a paragraph after the other."""
    for paragraph in desk.task().split("\n\n"):
        yield from (*wrap(paragraph, "", ""), "")


def write_look(desk: Desk, look: Look) -> Iterator[str]:
    """What a save came to, in a few lines, with no more given away than was asked for."""
    texts = desk.texts
    if look.refusal is not None:
        yield from wrap(f"{write_time(desk)}  {texts.say(look.refusal)}", "", "  ")
        return
    score = texts("drill.score", score=number(look.score))
    change = texts("drill.change", change=look.change) if look.change else ""
    yield f"{write_time(desk)}  {score}{change}"
    if look.passed:
        yield from wrap(texts("drill.passed"))
        return
    if look.lost:
        lost = look.lost.items()
        parts = (texts("drill.lost-area", area=area, points=number(cost)) for area, cost in lost)
        yield from wrap(texts("drill.lost", areas=texts("between").join(parts)))
    if look.troubles:
        yield from wrap(desk.describe(look))


def write_hint(hint: Hint, texts: Texts) -> Iterator[str]:
    """One hint, and whether there is more of it."""
    yield from wrap(texts(f"drill.hint.{hint.part}", number=hint.number, text=hint.text))
    if hint.left:
        yield from wrap(texts("drill.hint.more"))


def write_review(review: Review, texts: Texts) -> Iterator[str]:
    """The review as it is read out: facts, rubric, mistakes, recommendation."""
    facts = review.facts
    yield from (texts("drill.review.title"), "")
    yield from wrap(write_closing(facts, texts))
    for mark in review.marks:
        yield from wrap(texts.say(mark.said), "  * ", "    ")
    for note in write_notes(facts, texts):
        yield from wrap(note, "  * ", "    ")
    yield from ("", *wrap(write_recommendation(review, texts)), "")


def write_status(desk: Desk) -> Iterator[str]:
    """What an open or finished drill is at."""
    drill, facts, texts = desk.drill, desk.facts(), desk.texts
    kind = texts(f"drill.kind.{drill.kind}")
    what = {"drill": drill.id, "kind": kind, "exercise": drill.exercise}
    where = {"minutes": drill.minutes, "folder": drill.folder}
    yield from wrap(texts("drill.status", **what, **where), "", "  ")
    look = desk.look()
    lines: Sequence[str] = [write_time(desk), texts("drill.status.none")]
    if desk.is_finished:
        lines = wrap(write_closing(facts, texts), "", "  ")
    elif look is not None:
        lines = [*write_look(desk, look)]
    yield from lines
    counts = {"saves": facts.saves, "hints": facts.hint_count, "looked": facts.looked_up}
    key = "drill.status.facts" if facts.runs_code else "drill.status.facts-no-report"
    yield from wrap(texts(key, **counts))
