"""The follow-up round in a terminal: a question, an answer typed or spoken, one's own mark."""

from __future__ import annotations

from typing import Protocol

from grader.cli import console
from grader.drill.cli.keys import Keys
from grader.drill.schedule import RATINGS
from grader.questions import Question
from grader.reports.columns import wrap
from grader.texts import Texts

LEAVE = "q"


class Round(Protocol):
    """Who asks: a drill that has ended, or all questions that are due."""

    texts: Texts

    def ask(self) -> Question | None:
        """The question to answer now, None at the end."""
        ...

    def answer(self, text: str) -> None:
        """What was typed in answer to it."""
        ...

    def mark(self, rating: int) -> None:
        """One's own mark for the answer."""
        ...


def hold_round(asker: Round, keys: Keys) -> None:
    """Ask what is left to be asked; whoever leaves goes on there another time."""
    texts = asker.texts
    if asker.ask() is not None:
        _say(*wrap(texts("drill.round.title"), "", ""), "")
    while (question := asker.ask()) is not None:
        _say(*wrap(question.question, "", ""))
        if not _take_answer(asker, keys):
            return
        _say(*_write_points(asker, question))
        if not _take_mark(asker, keys):
            return
    _say(*wrap(texts("drill.round.done"), "", ""))


def _take_answer(asker: Round, keys: Keys) -> bool:
    lines: list[str] = []
    while True:
        line = keys.line()
        if line is None or (not lines and line.strip().lower() == LEAVE):
            return False
        if not line.strip():
            break
        lines.append(line)
    if lines:
        asker.answer("\n".join(lines))
    return True


def _take_mark(asker: Round, keys: Keys) -> bool:
    while True:
        _say(*wrap(asker.texts("drill.round.mark"), "", ""))
        line = keys.line()
        if line is None or line.strip().lower() == LEAVE:
            return False
        if line.strip() in map(str, RATINGS):
            asker.mark(int(line))
            _say("")
            return True


def _write_points(asker: Round, question: Question) -> list[str]:
    lines = [asker.texts("drill.round.points")]
    for point in question.points:
        lines += wrap(point, "  - ", "    ")
    return [*lines, *wrap(asker.texts("drill.round.trap", text=question.trap))]


def _say(*lines: str) -> None:
    console.show("".join(f"{line}\n" for line in lines))
