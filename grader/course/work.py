"""Grading one submission of many, in whatever process this runs: a lane of its own.

Each process has one zygote, started for its first task; a file's seed is the batch's, so that
problems and expected values are worked out once for all of its files.
"""

from __future__ import annotations

import atexit
import os
import socket
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.util import Finalize
from pathlib import Path
from typing import Any

from grader.bank import use_banks
from grader.errors import GraderError
from grader.grading import Request, grade
from grader.model import Message, Submission, stored
from grader.sandbox.forge import Forge, open_forge
from grader.sandbox.launch import hide_memory

# The key of a task, and its report as plain data, or why there is none: a fault of ours.
Done = tuple[str, dict[str, Any] | Message]


@dataclass(frozen=True)
class Task:
    """One submission to grade, and how; small enough to travel to another machine."""

    key: str
    submission: Submission
    request: Request


class Lane(threading.local):
    """What a thread of a process keeps from task to task: conversations do not mix."""

    forge: Forge | None = None
    # Where a zygote is to be had that has imported torch.
    stem: socket.socket | None = None

    def open(self) -> Forge:
        """The zygote of this process, started when it is first needed."""
        if self.forge is None:
            self.forge = open_forge(rehearsed=True, stem=self.stem)
            # Ended with the process, in whichever way processes of a pool end.
            Finalize(None, self.close, exitpriority=10)
            atexit.register(self.close)
        return self.forge

    def close(self) -> None:
        """End the zygote."""
        forge, self.forge = self.forge, None
        if forge is not None:
            forge.close()


LANE = Lane()
# The banks for whose tasks this process has been made ready.
_ready_for: Sequence[Path] | None = None


def prepare(banks: Sequence[Path]) -> None:
    """Make this process ready for tasks: one thread, and the course's own exercises."""
    global _ready_for
    use_banks(banks)
    _ready_for = banks
    # Expected values are made here, and a file that got out could read them.
    hide_memory()
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")


def work(tasks: Sequence[Task]) -> list[Done]:
    """Grade these, one after the other."""
    return [(task.key, _work(task)) for task in tasks]


def work_with(banks: Sequence[Path], tasks: Sequence[Task]) -> list[Done]:
    """The same in a process that may be younger than the batch, or has served another since."""
    if banks != _ready_for:
        prepare(banks)
    return work(tasks)


def _work(task: Task) -> dict[str, Any] | Message:
    try:
        return stored.dump(grade(task.submission, LANE.open(), task.request))
    except GraderError as error:
        return error.message
    except Exception as error:
        said = {"type": type(error).__name__, "text": str(error)[:200]}
        return Message("error.grader", said)
