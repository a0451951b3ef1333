"""The follow-up round as the page has it: a question; then what an answer seems to say."""

from __future__ import annotations

from typing import Any

from grader.drill.follow_up import MARKS, Asked, Asker
from grader.drill.rounds import describe
from grader.drill.schedule import RATINGS
from grader.errors import UsageError

Plain = dict[str, Any]


def show_question(asker: Asker) -> Plain:
    """What the interviewer says now, without anything that would answer it."""
    asked = asker.ask()
    return {"answered": False, "question": None if asked is None else asked.said}


def take_answer(asker: Asker, question: str, text: str) -> Plain:
    """What a good answer has, with a typed one held against it; or the challenge to it.

    An empty text is an answer that was spoken, of which nothing is known. Raises UsageError where
    `question` is not what is asked now.
    """
    asked = _ask_still(asker, question)
    typed = text.strip()
    suggestion = asker.answer(typed) if typed else None
    if typed and suggestion is None:
        return show_question(asker)
    found = [*describe(suggestion, asker.texts.language)] if suggestion else []
    return {
        "answered": True,
        "question": asked.said,
        "typed": typed,
        "found": found,
        # The sentences of a suggestion have the points already.
        "points": [] if suggestion else list(asked.question.points),
        "trap": asked.question.trap,
        "ratings": list(RATINGS),
        "suggested": MARKS[suggestion.mark] if suggestion else None,
    }


def take_mark(asker: Asker, question: str, rating: int) -> Plain:
    """Keep one's own mark for the answer to `question`, as `take_answer` does; the next one."""
    _ask_still(asker, question)
    asker.mark(rating)
    return show_question(asker)


def _ask_still(asker: Asker, question: str) -> Asked:
    """What is asked now: on another page of the same round it may have gone on meanwhile."""
    asked = asker.ask()
    if asked is None or asked.said != question:
        raise UsageError("drill.web-refused.question")
    return asked
