"""What the page shows where no drill is opened: those that are open, a new one, what is past."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from grader.bank import exercise_ids
from grader.drill import clock
from grader.drill.begin import FIRST_EXERCISE
from grader.drill.history import LEFT, MENDED, History, Row, gather_history
from grader.drill.kinds import KINDS
from grader.drill.practice import Practice, plan_practice
from grader.drill.schedule import EXERCISE, IMPLEMENT, MISTAKE, QUESTION, Due, read_practice
from grader.drill.web.acts import Call
from grader.drill.web.views import name
from grader.questions import LEVELS, load_questions
from grader.reports.failures import number
from grader.texts import Texts

Plain = dict[str, Any]
FATES = {LEFT: "left", MENDED: "mended"}
# How many cards that are due are shown at most, the most urgent first.
MOST_DUE = 8


def show_home(call: Call) -> Plain:
    """Everything on the first page."""
    store, texts, now = call.room.store, call.texts, time.time()
    history = gather_history(store, now)
    practice = plan_practice(store, now)
    return {
        "open": [_show_open(row, texts) for row in reversed(history.rows) if row.is_open],
        "past": [_show_past(row, texts) for row in history.ended],
        "mistakes": [*_show_mistakes(history, texts)],
        "planted": _count_planted(history),
        "due": [_show_due(due, texts) for due in practice.due[:MOST_DUE]],
        "untried": [*_list_untried(history, practice)],
        "kinds": [
            {"id": one, "name": texts(f"drill.kind.{one}"), "minutes": kind.minutes}
            for one, kind in KINDS.items()
        ],
        "exercises": [{"id": one, "name": name(texts, "exercise", one)} for one in exercise_ids()],
        "first": FIRST_EXERCISE,
        "levels": [{"id": one, "name": texts(f"level.{one}")} for one in LEVELS],
    }


def _show_open(row: Row, texts: Texts) -> Plain:
    standing = row.standing
    return _show_which(row, texts) | {"left": standing.left, "talked": standing.is_talked}


def _show_past(row: Row, texts: Texts) -> Plain:
    facts = row.facts
    return _show_which(row, texts) | {
        "started": row.drill.started,
        "share": facts.score / 100,
        "score": number(facts.score),
        "spent": clock.write_seconds(facts.spent),
        "hints": facts.hint_count,
    }


def _show_which(row: Row, texts: Texts) -> Plain:
    drill = row.drill
    kind = texts(f"drill.kind.{drill.kind}")
    return {"id": drill.id, "kind": kind, "exercise": name(texts, "exercise", drill.exercise)}


def _show_mistakes(history: History, texts: Texts) -> Iterator[Plain]:
    """Each mistake of one's own, and what became of it in each drill in which code was written."""
    for made in history.mistakes:
        became = [FATES.get(letter, "") for letter in history.fate(made)]
        yield {"id": made, "name": name(texts, "mistake", made), "became": became}


def _count_planted(history: History) -> Plain:
    """How many bugs were found of those that were planted."""
    ends = [row.facts.settled for row in history.ended if row.facts.settled is not None]
    found = sum(len(one.found) for one in ends)
    return {"found": found, "count": found + sum(len(one.left) for one in ends)}


def _list_untried(history: History, practice: Practice) -> Iterator[Plain]:
    """Kinds of drills, and exercises to implement, that were never finished."""
    tried = {row.drill.kind for row in history.ended}
    for kind in KINDS:
        if kind not in tried:
            yield {"kind": kind, "exercise": FIRST_EXERCISE}
    if IMPLEMENT in tried:
        for exercise in practice.untried[:MOST_DUE]:
            yield {"kind": IMPLEMENT, "exercise": exercise}


def _show_due(due: Due, texts: Texts) -> Plain:
    return {"kind": due.kind, "id": due.id, "said": _write_due(due, texts)}


def _write_due(due: Due, texts: Texts) -> str:
    if due.kind == QUESTION:
        return load_questions(texts.language)[due.id].question
    if due.kind == MISTAKE:
        return name(texts, MISTAKE, due.id)
    kind, exercise = read_practice(due.id)
    named = {"kind": texts(f"drill.kind.{kind}"), "exercise": name(texts, EXERCISE, exercise)}
    return texts("drill.web.title", **named)
