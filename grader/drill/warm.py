"""Grading again and again in one process: a zygote that stays, a seed that stays, workers ready.

With one seed the problems, their expected values and the weights drawn are worked out once for the
whole drill, and what a file is asked is nearly the same each time, so it is asked ahead.
"""

from __future__ import annotations

import gc
import sys
import threading
from dataclasses import dataclass, field

from grader.bank import load_exercise
from grader.errors import LateError
from grader.files import locate
from grader.grading import Request, grade, grade_in
from grader.intake import read_submission
from grader.model import Exercise, Report, Submission
from grader.sandbox.foresight import Fingerprints, Foresight, Script, write_script
from grader.sandbox.forge import Forge, open_forge
from grader.sandbox.launch import Launched, hide_memory
from grader.sandbox.reserve import Reserve

CLOSE_SECONDS = 0.5


@dataclass
class Warm:
    """Grades the versions of one file, one after the other; from any thread."""

    exercise: str
    seed: int
    launched: Launched | None = None
    _forge: Forge | None = None
    _reserve: Reserve | None = None
    _script: Script | None = None
    _last: Foresight | None = None
    _fingerprints: Fingerprints = field(default_factory=Fingerprints)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def grade(self, submission: Submission) -> Report:
        """The report on this version, as the drill's seed has it; LateError if it was dropped."""
        with self._lock:
            forge, reserve = self._open()
            last = Foresight(submission, reserve, self._script, self._fingerprints)
            self._last = last
            report = grade_in(last, forge, Request(self.seed, self.exercise, walked=False))
            if last.is_cut:
                raise LateError("drill.dropped")
            return report

    def picture(self, submission: Submission) -> Report:
        """The same report with all that it can show: the way of the shapes, and its pictures."""
        with self._lock:
            forge, _ = self._open()
            return grade(submission, forge, Request(self.seed, self.exercise, pictured=True))

    def drop(self) -> None:
        """Have the grade that is under way raise LateError soon, for there is a newer version."""
        last = self._last
        if last is not None:
            last.cut_short()

    def rehearse(self) -> None:
        """Grade the model answer, if there is one, so that all that is worked out once is there."""
        path = locate("reference", self.exercise)
        if path.is_file():
            self.grade(read_submission(path))
            self.restock()
            # Its parameters have other names than the candidate's.
            self._script = None
        # What is there by now stays, and need not be looked through again in the middle of a grade.
        gc.collect()
        gc.freeze()

    def restock(self) -> None:
        """Make ready for the next version: what costs time, once nobody is waiting."""
        with self._lock:
            if self._last is not None and self._reserve is not None:
                last, self._last = self._last, None
                self._reserve.restock(last.submission.source)
                # Elsewhere a pipe that is full would hold up both its ends.
                if last.asked and sys.platform != "win32":
                    self._script = write_script(last.asked)

    def close(self) -> None:
        """End everything this has started; at once, even if a file never ends."""
        if not self._lock.acquire(timeout=CLOSE_SECONDS):
            # The zygote ends with this process, and its workers with it.
            return
        if self._reserve is not None:
            self._reserve.close()
        if self._forge is not None:
            self._forge.close()
        self._forge = self._reserve = None
        self._lock.release()

    @property
    def _terms(self) -> Exercise:
        return load_exercise(self.exercise)

    def _open(self) -> tuple[Forge, Reserve]:
        if self._forge is None or self._reserve is None:
            hide_memory()
            self._forge = open_forge(self.launched)
            terms = self._terms
            self._reserve = Reserve(self._forge, terms.limits, terms.packages, terms.helpers)
            self.launched = None
        return self._forge, self._reserve
