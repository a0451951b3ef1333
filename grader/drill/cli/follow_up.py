"""The follow-up round in a terminal: a question, an answer typed or spoken, one's own mark."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from grader.cli import console
from grader.drill.cli.keys import Keys
from grader.drill.follow_up import MARKS, Asked
from grader.drill.rounds import Suggestion, describe
from grader.drill.schedule import RATINGS
from grader.questions import Question
from grader.reports.columns import wrap
from grader.texts import Texts

LEAVE, SKIP = "q", "s"


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


def hold_round(asker: Asker, keys: Keys) -> None:
    """Ask what is left to be asked; whoever leaves goes on there another time."""
    texts = asker.texts
    asked = asker.ask()
    if asked is not None:
        _say(*wrap(texts("drill.round.title"), "", ""), "")
        if asked.before:
            # Whoever comes back does not remember what this goes on from.
            _say(*wrap(texts("drill.round.before", said=asked.before), "", ""), "")
    while asked is not None:
        number = {"number": asked.number, "count": asked.count}
        _say(*wrap(texts("drill.round.question", **number, said=asked.said), "", ""))
        typed = _take_answer(keys)
        if typed == LEAVE:
            return
        if typed == SKIP:
            asker.skip()
        elif not _hear(asker, asked, typed, keys):
            return
        _say("")
        asked = asker.ask()
    _say(*wrap(texts("drill.round.done"), "", ""))


def _hear(asker: Asker, asked: Asked, typed: str, keys: Keys) -> bool:
    """Take an answer, "" for one that was spoken, and its mark; False to leave."""
    suggestion = asker.answer(typed) if typed else None
    if typed and suggestion is None:
        return True
    _say(*_write_points(asked.question, suggestion, asker.texts))
    return _take_mark(asker, keys, suggestion)


def _take_answer(keys: Keys) -> str:
    """What was typed, up to an empty line; "" where it was spoken; LEAVE or SKIP."""
    lines: list[str] = []
    while True:
        line = keys.line()
        if line is None:
            return LEAVE
        if (letter := line.strip().lower()) in (LEAVE, SKIP):
            return letter
        if not line.strip():
            return "\n".join(lines)
        lines.append(line)


def _take_mark(asker: Asker, keys: Keys, suggestion: Suggestion | None) -> bool:
    """Keep the mark that is given; an empty line takes the one suggested. False to leave."""
    suggested = "" if suggestion is None else str(MARKS[suggestion.mark])
    key = "drill.round.mark-suggested" if suggested else "drill.round.mark"
    while True:
        _say(*wrap(asker.texts(key, suggested=suggested), "", ""))
        line = keys.line()
        said = LEAVE if line is None else line.strip().lower()
        if said == LEAVE:
            return False
        if said == SKIP:
            asker.skip()
            return True
        mark = _read_mark(said or suggested, asker.texts)
        if mark is not None:
            asker.mark(mark)
            return True
        _say(*wrap(asker.texts("drill.round.no-mark", said=said), "", ""))


def _read_mark(said: str, texts: Texts) -> int | None:
    """A mark by its number or its word; None where it is neither."""
    words = {texts(f"drill.round.mark.{rating}"): rating for rating in RATINGS}
    return words.get(said) or {str(rating): rating for rating in RATINGS}.get(said)


def _write_points(question: Question, suggestion: Suggestion | None, texts: Texts) -> Iterator[str]:
    """The points and the trap, with a typed answer held against them."""
    if suggestion is not None:
        for sentence in describe(suggestion, texts.language):
            yield from wrap(sentence, "  ", "    ")
    else:
        yield texts("drill.round.points")
        for point in question.points:
            yield from wrap(point, "  - ", "    ")
    yield from wrap(texts("drill.round.trap", text=question.trap))


def _say(*lines: str) -> None:
    console.show("".join(f"{console.tidy(line)}\n" for line in lines))
