"""The follow-up round in a terminal: a question, an answer typed or spoken, one's own mark."""

from __future__ import annotations

from collections.abc import Iterator

from grader.cli import console
from grader.drill.cli.keys import Keys
from grader.drill.follow_up import MARKS, Asked, Asker
from grader.drill.rounds import Suggestion, describe
from grader.drill.schedule import RATINGS
from grader.questions import Question
from grader.reports.columns import wrap
from grader.texts import Texts

LEAVE, SKIP = "q", "s"


def hold_round(asker: Asker, keys: Keys) -> None:
    """Ask what is left to be asked; whoever leaves goes on there another time."""
    texts = asker.texts
    asked = asker.ask()
    if asked is not None:
        console.tell(*wrap(texts("drill.round.title"), "", ""), "")
        if asked.before:
            # Whoever comes back does not remember what this goes on from.
            console.tell(*wrap(texts("drill.round.before", said=asked.before), "", ""), "")
    while asked is not None:
        number = {"number": asked.number, "count": asked.count}
        console.tell(*wrap(texts("drill.round.question", **number, said=asked.said), "", ""))
        typed = _take_answer(keys)
        if typed == LEAVE or not _go_on(asker, asked, typed, keys):
            return
        console.tell("")
        asked = asker.ask()
    console.tell(*wrap(texts("drill.round.done"), "", ""))


def _go_on(asker: Asker, asked: Asked, typed: str, keys: Keys) -> bool:
    """Take the answer and the mark for it, or SKIP; False to leave.

    In another terminal, or on the page, the round may have gone on meanwhile: what is given here
    is for no other question than the one that was asked here.
    """
    texts = asker.texts
    if asker.ask() == asked:
        if typed == SKIP:
            asker.skip()
            return True
        suggestion = asker.answer(typed) if typed else None
        if typed and suggestion is None:
            # Challenged, and asked again.
            return True
        console.tell(*_write_points(asked.question, suggestion, texts))
        said = _take_mark(keys, suggestion, texts)
        if said == LEAVE:
            return False
        if asker.ask() == asked:
            if said == SKIP:
                asker.skip()
            else:
                asker.mark(int(said))
            return True
    console.tell(*wrap(texts("drill.round.elsewhere"), "", ""))
    return True


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


def _take_mark(keys: Keys, suggestion: Suggestion | None, texts: Texts) -> str:
    """One's own mark, LEAVE or SKIP; an empty line takes the mark suggested."""
    suggested = "" if suggestion is None else str(MARKS[suggestion.mark])
    key = "drill.round.mark-suggested" if suggested else "drill.round.mark"
    while True:
        console.tell(*wrap(texts(key, suggested=suggested), "", ""))
        line = keys.line()
        said = LEAVE if line is None else line.strip().lower()
        mark = said if said in (LEAVE, SKIP) else _read_mark(said or suggested, texts)
        if mark:
            return mark
        console.tell(*wrap(texts("drill.round.no-mark", said=said), "", ""))


def _read_mark(said: str, texts: Texts) -> str:
    """A mark by its number or its word; "" where it is neither."""
    words = {texts(f"drill.round.mark.{rating}"): str(rating) for rating in RATINGS}
    return words.get(said, said if said in words.values() else "")


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
