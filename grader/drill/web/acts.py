"""What can be done from the page, each a function from a call to plain data."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from grader.drill.begin import Wish, begin
from grader.drill.desk import Desk
from grader.drill.folder import file_of
from grader.drill.follow_up import Asker
from grader.drill.practice import DueQuestions, choose_due
from grader.drill.web import views
from grader.drill.web.draft import name_version, write_draft
from grader.drill.web.room import Room
from grader.drill.web.rounds import show_question, take_answer, take_mark
from grader.errors import UsageError
from grader.texts import Texts

Plain = dict[str, Any]
# In place of an exercise: whichever, or the one that is due.
ANY, DUE = "", "due"
HALVES = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Call:
    """One request: the language of its sentences, the drill it is about, what it sent."""

    room: Room
    texts: Texts
    drill: str
    sent: Mapping[str, Any]

    @cached_property
    def desk(self) -> Desk:
        """The desk of the drill it is about."""
        return self.room.desk(self.drill, self.texts)

    @cached_property
    def asker(self) -> Asker:
        """The round of the drill; where it is about none, of the questions that are due."""
        return self.desk.round() if self.drill else DueQuestions(self.room.store, self.texts)

    def text(self, name: str) -> str:
        """A field that has to be text; raises UsageError where it is not."""
        found = self.sent.get(name)
        # Half characters, which JSON can name, are none that a file or an answer could hold.
        if not isinstance(found, str) or HALVES.search(found):
            raise UsageError("drill.web-refused.body")
        return found


def start(call: Call) -> Plain:
    """A new drill, whose clock runs from now on."""
    minutes = call.sent.get("minutes")
    kind, wanted = call.text("kind"), call.text("exercise")
    if wanted == DUE:
        kind, wanted = choose_due(call.room.store, time.time())
    wish = Wish(
        kind=kind,
        exercise=None if wanted == ANY else wanted,
        is_random=wanted == ANY,
        minutes=float(minutes) if isinstance(minutes, int | float) else None,
        level=call.text("level"),
        language=call.texts.language,
    )
    return {"id": begin(call.room.store, wish).id}


def open_drill(call: Call) -> Plain:
    """Everything about a drill; of a finished one its review, and where its round is.

    Of a talk that is over and not yet marked, its points.
    """
    desk = call.desk
    shown = views.show_drill(desk)
    if shown["talked"] and not shown["finished"]:
        shown["marking"] = points(call)
    if shown["finished"]:
        shown["review"] = views.show_review(desk.finish(), desk.texts)
        shown["round"] = show_question(desk.round())
    return shown


def pulse(call: Call) -> Plain:
    """What may have changed meanwhile."""
    return views.show_pulse(call.desk)


def save(call: Call) -> Plain:
    """Write the file; what the page has not seen is not written over, but sent."""
    desk, text = call.desk, call.text("text")
    if desk.is_finished:
        raise UsageError("drill.finished-elsewhere", drill=desk.drill.id)
    with call.room.writing:
        unseen = write_draft(file_of(desk.drill), text, call.text("version"))
    if unseen is not None:
        return {"conflict": True, "text": unseen.text, "version": unseen.version}
    return {"conflict": False, "version": name_version(text)}


def grade(call: Call) -> Plain:
    """What is in the file is worth this; no look where a newer save is being graded instead."""
    look = call.room.grade(call.desk)
    return {"look": views.show_look(call.desk, look), "left": call.desk.standing().left}


def hint(call: Call) -> Plain:
    """One hint more, counted."""
    return views.show_hint(call.desk, call.desk.hint())


def look_up(call: Call) -> Plain:
    """Leave to open the whole report, which is noted; else the sentence of why there is none."""
    texts, was_finished = call.texts, call.desk.is_finished
    if call.desk.report() is None:
        return {"there": False, "said": texts("drill.report.none")}
    return {"there": True, "said": "" if was_finished else texts("drill.report.noted")}


def points(call: Call) -> Plain:
    """Of a talk, which is over by this, the points to mark oneself by, and what could be said.

    Of other drills neither.
    """
    told = [{"id": one.id, "text": one.text, "made": one.made} for one in call.desk.points()]
    words = [*call.desk.talk()]
    return {"points": told, "said": call.texts("drill.talk.title"), "words": words}


def finish(call: Call) -> Plain:
    """Close the drill with what is in the file, or of a talk with the points that were made."""
    made = call.sent.get("made")
    if not isinstance(made, list) or not all(isinstance(one, str) for one in made):
        raise UsageError("drill.web-refused.body")
    if not call.desk.is_finished and call.desk.points():
        call.desk.mark_points(made)
    call.desk.finish()
    return open_drill(call)


def answer(call: Call) -> Plain:
    """What a typed answer seems to say, nothing if it was spoken, and what a good one has."""
    return {"round": take_answer(call.asker, call.text("question"), call.text("text"))}


def mark(call: Call) -> Plain:
    """One's own mark; the next question follows."""
    rating = call.sent.get("rating")
    if type(rating) is not int:
        raise UsageError("drill.web-refused.body")
    return {"round": take_mark(call.asker, call.text("question"), rating)}


def ask_due(call: Call) -> Plain:
    """The first of the questions that are due, of whichever drill."""
    return {"round": show_question(call.asker)}


# What is done to one drill, by the last part of its address.
ACTS: Mapping[str, Callable[[Call], Plain]] = {
    "save": save,
    "grade": grade,
    "hint": hint,
    "report": look_up,
    "points": points,
    "finish": finish,
    "answer": answer,
    "mark": mark,
}
