"""The desks behind the page: one for each drill, whatever the language of who sits at it."""

from __future__ import annotations

import copy
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from grader.drill.desk import Desk, open_desk
from grader.drill.kinds import KINDS
from grader.drill.model import Look
from grader.drill.store import Store
from grader.errors import LateError, UsageError
from grader.model import Report, Submission
from grader.sandbox.launch import Launched
from grader.texts import Texts, load_texts


@dataclass
class Room:
    """All drills of one user, as the page has them; used from several threads.

    `launched` is a zygote already on its way up, for the first desk that grades.
    """

    store: Store
    texts: Texts
    launched: Launched | None = None
    # One write to a file after the other, so that what is compared is what is written over.
    writing: threading.Lock = field(default_factory=threading.Lock)
    _desks: dict[str, Desk] = field(default_factory=dict)
    _pictured: tuple[tuple[str, str], Report] | None = None
    _grading: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _helper: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1))

    def desk(self, name: str, texts: Texts) -> Desk:
        """The desk of this drill, speaking this language; raises UsageError for an unknown one."""
        with self._lock:
            if name not in self._desks:
                self._desks[name] = self._open(name)
            desk = copy.copy(self._desks[name])
        # Two pages in two languages share the processes and the order of saves.
        desk.texts = texts
        return desk

    def grade(self, desk: Desk) -> Look | None:
        """A look at what is in the file now; None where a newer save came meanwhile."""
        name = desk.drill.id
        with self._lock:
            if self._grading[name]:
                desk.drop()
            self._grading[name] += 1
        try:
            look = desk.grade(desk.read())
        except LateError:
            return None
        finally:
            with self._lock:
                self._grading[name] -= 1
        self._later(desk.make_ready)
        return look

    def picture(self, desk: Desk, submission: Submission) -> Report:
        """The whole report on this version of the file; of the last one it is kept."""
        key = (desk.drill.id, submission.sha256)
        with self._lock:
            kept = self._pictured
        if kept is None or kept[0] != key:
            kept = key, desk.warm.picture(submission)
            with self._lock:
                self._pictured = kept
        return kept[1]

    def choose_texts(self, language: str | None) -> Texts:
        """The sentences in this language, or in the one the server was started in."""
        return load_texts(language) if language else self.texts

    def close(self) -> None:
        """End the processes behind every desk, one that is only being started too."""
        self._helper.shutdown(cancel_futures=True)
        with self._lock:
            for desk in self._desks.values():
                desk.close()

    def _open(self, name: str) -> Desk:
        drill = self.store.drill(name)
        if drill is None:
            raise UsageError("drill.unknown-none", drill=name)
        desk = open_desk(self.store, drill, self.texts)
        if not desk.is_finished:
            if KINDS[drill.kind].runs_code:
                desk.warm.launched, self.launched = self.launched, None
            for other in self._desks.values():
                # Torch once in memory is enough; a desk that is asked again starts it again.
                self._later(other.close)
            self._later(desk.warm_up)
        return desk

    def _later(self, act: Callable[[], None]) -> None:
        """When nobody waits; what goes wrong then goes wrong again when it matters."""
        self._helper.submit(act)
