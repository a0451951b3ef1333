"""The follow-up round in a terminal: a question, an answer typed or spoken, one's own mark."""

from __future__ import annotations

from grader.cli import console
from grader.drill.cli.keys import Keys
from grader.drill.desk import Desk
from grader.drill.schedule import RATINGS
from grader.questions import Question
from grader.reports.columns import wrap

LEAVE = "q"


def hold_round(desk: Desk, keys: Keys) -> None:
    """Ask what is left to be asked; whoever leaves goes on there another time."""
    texts = desk.texts
    if desk.ask() is not None:
        _say(*wrap(texts("drill.round.title"), "", ""), "")
    while (question := desk.ask()) is not None:
        _say(*wrap(question.question, "", ""))
        if not _take_answer(desk, keys):
            return
        _say(*_write_points(desk, question))
        if not _take_mark(desk, keys):
            return
    _say(*wrap(texts("drill.round.done"), "", ""))


def _take_answer(desk: Desk, keys: Keys) -> bool:
    lines: list[str] = []
    while True:
        line = keys.line()
        if line is None or (not lines and line.strip().lower() == LEAVE):
            return False
        if not line.strip():
            break
        lines.append(line)
    if lines:
        desk.answer("\n".join(lines))
    return True


def _take_mark(desk: Desk, keys: Keys) -> bool:
    while True:
        _say(*wrap(desk.texts("drill.round.mark"), "", ""))
        line = keys.line()
        if line is None or line.strip().lower() == LEAVE:
            return False
        if line.strip() in map(str, RATINGS):
            desk.mark(int(line))
            _say("")
            return True


def _write_points(desk: Desk, question: Question) -> list[str]:
    lines = [desk.texts("drill.round.points")]
    for point in question.points:
        lines += wrap(point, "  - ", "    ")
    return [*lines, *wrap(desk.texts("drill.round.trap", text=question.trap))]


def _say(*lines: str) -> None:
    console.show("".join(f"{line}\n" for line in lines))
