"""Runs tasks on the workers of a Dask cluster: the same work, each worker with its own zygote.

Dask gives the tasks of a worker that has died to another one. If the scheduler itself is lost, the
client is connected anew and what was under way is given out again; results are kept here, so
nothing counts twice.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grader.course.lanes import stream
from grader.course.work import Done, Task, prepare, work_with
from grader.errors import UsageError

# A message to a worker costs a few milliseconds; a lost chunk is graded again.
CHUNK = 4
AHEAD = 4
CONNECT_SECONDS = 60


@dataclass
class Dask:
    """The workers that a scheduler knows."""

    address: str
    banks: tuple[Path, ...] = ()
    clients: list[Any] = field(default_factory=list)

    def run(self, tasks: Iterable[Task]) -> Iterator[Done]:
        """What became of each task, as it comes; LOST where no worker survived it."""
        distributed = import_distributed()
        lost = (
            distributed.KilledWorker,
            distributed.CancelledError,
            distributed.client.FutureCancelledError,
            distributed.comm.CommClosedError,
            TimeoutError,
            OSError,
        )
        try:
            act = functools.partial(work_with, self.banks)
            yield from stream(act, tasks, self._start, self._lanes() * AHEAD, CHUNK, lost)
        finally:
            self._close()

    def _start(self) -> Executor:
        self._close()
        distributed = import_distributed()
        try:
            client = distributed.Client(self.address, timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            detail = str(error) or type(error).__name__
            raise UsageError("course.no-scheduler", address=self.address, detail=detail) from None
        self.clients.append(client)
        # That one has no such folder is said now, and a folder that has changed is read anew.
        client.run(prepare, self.banks)
        executor: Executor = client.get_executor(pure=False, retries=0)
        return executor

    def _lanes(self) -> int:
        if not self.clients:
            self._start()
        return max(1, sum(self.clients[-1].nthreads().values()))

    def _close(self) -> None:
        while self.clients:
            self.clients.pop().close(timeout=5)


def import_distributed() -> Any:
    """The package behind `--executor dask`; UsageError where it is not installed."""
    try:
        import distributed
    except ImportError:
        raise UsageError("course.no-distributed") from None
    return distributed
