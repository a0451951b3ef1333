"""Shapes: an implementation with a blank beside each line that makes a tensor."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict

from grader.drill.model import Drill, Grade, Look, Prepared, Settled, Trouble
from grader.drill.sheets import Sheet, State, check, make_sheet
from grader.files import stem_of
from grader.model import Submission
from grader.texts import Texts

UNREAD = (State.UNREADABLE.value, State.GONE.value)


class Shapes:
    """The file is a sheet; each save is marked, and nothing runs."""

    minutes = 8.0
    runs_code = False
    is_talk = False

    def prepare(self, exercise: str, seed: int) -> Prepared:
        """A sheet for this exercise."""
        sheet = make_sheet(seed, exercise)
        return Prepared(exercise, f"{stem_of(exercise)}_shapes.py", sheet.source, asdict(sheet))

    def task(self, drill: Drill, texts: Texts) -> str:
        """What to fill in, and how."""
        return texts("drill.task.shapes", count=len(Sheet.restore(drill.plan).blanks))

    def look(self, drill: Drill, submission: Submission, grade: Grade) -> Look:
        """The share of blanks that are right; each other one is a trouble."""
        marks = check(Sheet.restore(drill.plan), submission.source)
        right = sum(mark.right for mark in marks)
        wrong = [
            Trouble("blank", mark.name, mark.line, None, mark.wanted, mark.given, mark.state.value)
            for mark in marks
            if not mark.right
        ]
        score = round(100 * right / len(marks), 2)
        return Look(submission.sha256, score, right == len(marks), troubles=tuple(wrong))

    def settle(self, drill: Drill, look: Look | None) -> Settled | None:
        """Nothing was wrong, only empty."""
        return None


def describe_blanks(drill: Drill, look: Look, said: str, texts: Texts) -> str:
    """How many blanks are right and what the others are, before what else is `said`.

    Where something was not understood is no secret, as it is no answer yet.
    """
    count = len(Sheet.restore(drill.plan).blanks)
    states = Counter(trouble.state for trouble in look.troubles)
    known = {"wrong": states[State.WRONG.value], "empty": states[State.UNFILLED.value]}
    unread = [trouble for trouble in look.troubles if trouble.state in UNREAD]
    if unread:
        lines = ", ".join(str(trouble.line) for trouble in unread)
        said = texts("drill.blanks.unread", lines=lines, said=said)
    right = count - len(look.troubles)
    return texts("drill.blanks", right=right, count=count, **known, unread=len(unread), said=said)
