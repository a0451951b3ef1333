"""The watching loop: a save is graded, a key is answered, the clock runs."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress

from grader.clean import clean
from grader.cli import console
from grader.drill.cli import words
from grader.drill.cli.keys import END, Keys
from grader.drill.cli.saves import Saves
from grader.drill.desk import Desk
from grader.drill.folder import file_of
from grader.drill.hints import explain_none
from grader.drill.model import Look
from grader.errors import GraderError, LateError
from grader.model import Message
from grader.reports import FORMATS, View
from grader.reports.columns import cut, wrap

TICK_SECONDS = 0.01
# How often the clock is shown anew, and looked whether somebody else has finished the drill.
CLOCK_SECONDS = 1.0
FINISH, LEAVE = "f", "q"


class Watch:
    """One terminal at one drill."""

    def __init__(self, desk: Desk, keys: Keys, known: str | None = None) -> None:
        """`known` is the text that needs no grading: the stub of a new drill."""
        self.desk = desk
        self.keys = keys
        self.saves = Saves(file_of(desk.drill), known)
        self._grader = ThreadPoolExecutor(1)
        self._running: Future[Look] | None = None
        self._waiting: str | None = None
        self._shown_at = 0.0
        self._is_up = False
        self._is_closed = False
        self._grader.submit(desk.warm_up)

    def run(self) -> str:
        """Until f or q is typed, or nobody is there any more: FINISH or LEAVE."""
        with self.keys.one_by_one():
            keys = words.write_keys(self.desk)
            told = keys if self.keys.single else self.desk.texts("drill.keys-line", keys=keys)
            self.say(*wrap(told, "", ""))
            while True:
                self._see_file()
                self._see_result()
                self._see_clock()
                for key in self.keys.get_keys(TICK_SECONDS):
                    if key in (FINISH, LEAVE, END):
                        self._clear_clock()
                        return FINISH if key == FINISH else LEAVE
                    self._answer(key)
                if self._is_closed:
                    said = self.desk.texts("drill.finished-elsewhere", drill=self.desk.drill.id)
                    self.say(*wrap(said, "", "  "))
                    return LEAVE

    def say(self, *lines: str) -> None:
        """Lines on standard output, above the clock."""
        self._clear_clock()
        console.tell(*lines)

    def _answer(self, key: str) -> None:
        acts = {"h": self._hint, "r": self._report, "t": self._task}
        # Of a drill that was finished elsewhere a moment ago, say, or on a disk that is full.
        with self._telling():
            acts.get(key, tuple)()

    def _see_file(self) -> None:
        seen = self.saves.look()
        if isinstance(seen, Message):
            self.say(*wrap(self.desk.texts.say(seen), "", "  "))
        elif seen is not None:
            self._waiting = seen
        if self._waiting is None:
            return
        if self._running is not None:
            # Again and again: it may not have got to anything yet that could be given up.
            self.desk.drop()
            return
        text, self._waiting = self._waiting, None
        self._running = self._grader.submit(self.desk.grade, text)
        self._running.add_done_callback(lambda _: self.keys.wake())

    def _see_result(self) -> None:
        if self._running is None or not self._running.done():
            return
        done, self._running = self._running, None
        # Where it is late, a newer save is graded instead.
        with self._telling(), suppress(LateError):
            self.say(*words.write_look(self.desk, done.result()))
            self._grader.submit(self.desk.make_ready)

    @contextmanager
    def _telling(self) -> Iterator[None]:
        """What goes wrong is told, and the watching goes on."""
        try:
            yield
        except GraderError as error:
            self.say(*wrap(self.desk.texts.say(error.message), "", "  "))

    def _see_clock(self) -> None:
        now = time.monotonic()
        if now - self._shown_at < CLOCK_SECONDS:
            return
        self._shown_at = now
        standing = self.desk.standing()
        self._is_closed = standing.is_finished
        if not self._is_up and standing.left < 0:
            self._is_up = True
            with self._telling():
                if self.desk.time_is_up():
                    self.say(*wrap(self.desk.texts("drill.time-up"), "", "  "))
        self._show_clock()

    def _show_clock(self) -> None:
        if self.keys.single:
            line = f"{words.write_time(self.desk)}  {words.write_keys(self.desk)}"
            # On two lines it could not be taken back, nor in the last column on some terminals.
            console.show(f"\r\x1b[K{cut(line, shutil.get_terminal_size().columns - 1)}")

    def _clear_clock(self) -> None:
        if self.keys.single:
            console.show("\r\x1b[K")

    def _hint(self) -> None:
        self.say(*tell_hint(self.desk))

    def _report(self) -> None:
        self.say(*tell_report(self.desk))

    def _task(self) -> None:
        self.say(*words.write_task(self.desk))


def tell_hint(desk: Desk) -> Iterable[str]:
    """The next hint, or why there is none."""
    hint = desk.hint()
    if hint is not None:
        return words.write_hint(hint, desk.texts)
    return wrap(desk.texts.say(explain_none(desk.look())))


def tell_report(desk: Desk) -> Iterable[str]:
    """The whole report, or that there is none."""
    report = desk.report()
    if report is None:
        is_marked = desk.look() is not None
        return wrap(desk.texts("drill.report.none-of-kind" if is_marked else "drill.report.none"))
    text = FORMATS["terminal"](report, desk.texts, View(hints=0))
    noted = () if desk.is_finished else (desk.texts("drill.report.noted"),)
    return (*(clean(line, 400) for line in text.splitlines()), *noted)
