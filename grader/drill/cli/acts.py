"""What each command does; the exit code is what it returns."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace

from grader.cli import console
from grader.cli.codes import NOT_PASSED, PASSED
from grader.drill.begin import Wish, begin
from grader.drill.cli import words
from grader.drill.cli.browser import Web, show_page
from grader.drill.cli.choose import choose_finished, choose_open
from grader.drill.cli.follow_up import hold_round
from grader.drill.cli.keys import Keys
from grader.drill.cli.talk import mark_points
from grader.drill.cli.watch import FINISH, Watch
from grader.drill.cli.watch import tell_hint as hint_lines
from grader.drill.desk import Desk, open_desk
from grader.drill.folder import file_of
from grader.drill.model import Drill
from grader.drill.practice import DueQuestions, choose_due
from grader.drill.store import Store
from grader.errors import UnusableSubmission, UsageError
from grader.reports.columns import wrap
from grader.sandbox.launch import Launched
from grader.texts import Texts


def start(wish: Wish, is_due: bool, web: Web, launched: Launched | None, texts: Texts) -> int:
    """Begin a drill and watch it, here or in the browser; `is_due` takes what is due."""
    web.check()
    if sum((wish.exercise is not None, wish.is_random, is_due)) > 1:
        raise UsageError("drill.choose-one")
    wish = replace(wish, language=texts.language)
    store = Store()
    if is_due:
        kind, exercise = choose_due(store, time.time())
        wish = replace(wish, kind=kind, exercise=exercise)
    drill = begin(store, wish)
    if web.wanted:
        return show_page(store, web, launched, texts, drill.id)
    with at_desk(store, drill, texts, launched) as desk:
        minutes = {"minutes": drill.minutes, "exercise": drill.exercise}
        console.tell(*words.write_task(desk))
        console.tell(*wrap(texts("drill.started", drill=drill.id, **minutes), "", ""))
        console.tell(*wrap(texts("drill.file", path=file_of(drill)), "", "  "))
        return watch(desk, desk.read())


def resume(named: str | None, web: Web, launched: Launched | None, texts: Texts) -> int:
    """Watch an open drill on; its clock never stood still."""
    web.check()
    store = Store()
    drill = choose_open(store, named)
    if web.wanted:
        return show_page(store, web, launched, texts, drill.id)
    with at_desk(store, drill, texts, launched) as desk:
        if desk.is_finished:
            raise UsageError("drill.finished", drill=drill.id)
        console.tell(*words.write_status(desk))
        return watch(desk, desk.read_known())


def browse(web: Web, launched: Launched | None, texts: Texts) -> int:
    """The page without a drill: there one can be begun, gone on with or looked back at."""
    web.check()
    return show_page(Store(), web, launched, texts)


def watch(desk: Desk, known: str | None) -> int:
    """The loop, and the end of the drill if that is asked for."""
    keys = Keys()
    with suppress(KeyboardInterrupt):
        if Watch(desk, keys, known).run() == FINISH:
            return close(desk, keys)
    if not desk.is_finished:
        console.tell(*wrap(desk.texts("drill.left", drill=desk.drill.id), "", "  "))
    return PASSED


def tell_status(named: str | None, texts: Texts) -> int:
    """How a drill stands."""
    store = Store()
    with at_desk(store, choose_open(store, named), texts) as desk:
        console.tell(*words.write_status(desk))
    return PASSED


def tell_hint(named: str | None, texts: Texts) -> int:
    """One hint more."""
    store = Store()
    with at_desk(store, choose_open(store, named), texts) as desk:
        # Where nobody watches, what was saved has not been graded yet.
        with suppress(UnusableSubmission):
            desk.grade(desk.read())
        console.tell(*hint_lines(desk))
    return PASSED


def finish(named: str | None, texts: Texts) -> int:
    """Close a drill, then ask."""
    store = Store()
    with at_desk(store, choose_open(store, named), texts) as desk:
        return close(desk, Keys())


def ask(named: str | None, due: bool, texts: Texts) -> int:
    """Go on with the questions of a drill that is finished, or with all that are due."""
    store = Store()
    if due:
        hold_round(DueQuestions(store, texts), Keys())
        return PASSED
    with at_desk(store, choose_finished(store, named), texts) as desk:
        hold_round(desk.round(), Keys())
    return PASSED


def close(desk: Desk, keys: Keys) -> int:
    """The review and the follow-up round; 0 where everything passed."""
    points = desk.points()
    if points:
        made = mark_points(points, keys, desk.texts)
        if made is None:
            return PASSED
        desk.mark_points(made)
    review = desk.finish()
    console.tell("", *words.write_review(review, desk.texts))
    for paragraph in desk.talk():
        console.tell(*wrap(paragraph, "", "  "), "")
    hold_round(desk.round(), keys)
    return PASSED if review.facts.passed else NOT_PASSED


@contextmanager
def at_desk(
    store: Store, drill: Drill, texts: Texts, launched: Launched | None = None
) -> Iterator[Desk]:
    """The desk of a drill, and the end of its processes."""
    desk = open_desk(store, drill, texts, launched)
    try:
        yield desk
    finally:
        desk.close()
