"""Grading again and again in one process: a zygote that stays, a seed that stays.

With one seed the problems, their expected values and the weights drawn are worked out once for the
whole drill.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from grader.grade import Request, grade
from grader.model import Report, Submission
from grader.sandbox.forge import Forge, open_forge
from grader.sandbox.launch import Launched, hide_memory


@dataclass
class Warm:
    """Grades files of one drill, one after the other; from any thread."""

    exercise: str
    seed: int
    launched: Launched | None = None
    _forge: Forge | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def grade(self, submission: Submission) -> Report:
        """The report on this file, as the drill's seed has it."""
        with self._lock:
            request = Request(self.seed, self.exercise, walked=False)
            return grade(submission, self._open(), request)

    def close(self) -> None:
        """End the zygote, if there is one."""
        with self._lock:
            forge, self._forge = self._forge, None
        if forge is not None:
            forge.close()

    def _open(self) -> Forge:
        if self._forge is None:
            hide_memory()
            self._forge = open_forge(self.launched)
            self.launched = None
        return self._forge
