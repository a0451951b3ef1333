"""Runs tasks side by side on this machine, and gives back what comes as it comes.

Lanes are processes started afresh, one for each core. One that is killed takes no more with it
than the tasks that were under way: they are given out again one by one, and only one that brings
its lane down alone, and does so twice, is given up.
"""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import os
import signal
import socket
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from grader.course.work import LANE, Done, Task, prepare, work
from grader.model import Message
from grader.sandbox.twins import open_stem

# Enough that no lane waits for the next, few enough that memory stays flat.
AHEAD = 3
LOOK_SECONDS = 0.5
TRIES = 2
LOST = Message("course.lost")
# What a lane does with a chunk of tasks.
Act = Callable[[Sequence[Task]], list[Done]]


def count_cores() -> int:
    """The cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


@dataclass
class Local:
    """Lanes on this machine."""

    lanes: int = field(default_factory=count_cores)
    banks: tuple[Path, ...] = ()

    def run(self, tasks: Iterable[Task]) -> Iterator[Done]:
        """What became of each task, as it comes; LOST where its lane did not survive it."""
        with open_stem(self.lanes) as stem:
            yield from stream(work, tasks, lambda: self._start(stem), self.lanes * AHEAD)

    def _start(self, stem: socket.socket | None) -> Executor:
        # Spawned: a process forked from one with threads may wait for ever.
        context = multiprocessing.get_context("spawn")
        return Pool(self.lanes, context, _begin, (self.banks, stem))


class Pool(ProcessPoolExecutor):
    """A pool that can be left in the middle of its work, and leaves nothing behind."""

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Let the lanes finish, or end them at once."""
        if not wait:
            for process in multiprocessing.active_children():
                process.kill()
        super().shutdown(wait=True, cancel_futures=cancel_futures)


def stream(
    act: Act,
    tasks: Iterable[Task],
    start: Callable[[], Executor],
    ahead: int,
    chunk: int = 1,
    broken: tuple[type[BaseException], ...] = (BrokenProcessPool,),
) -> Iterator[Done]:
    """Keep `ahead` chunks of up to `chunk` tasks under way in an executor, anew if it breaks.

    It is `broken` when `act`, called with a chunk, ends with one of these rather than with reports.
    """
    fresh = _chunks(tasks, chunk, ahead)
    # What was under way when it broke: looked at one by one, until it shows who was to blame.
    suspects: deque[Task] = deque()
    blamed: Counter[str] = Counter()
    running: dict[Future[list[Done]], Sequence[Task]] = {}
    executor = start()

    def give_out() -> bool:
        if suspects and running:
            return False
        batch = [suspects.popleft()] if suspects else next(fresh, [])
        if batch:
            running[_submit(executor, act, batch, broken)] = batch
        return bool(batch)

    try:
        while True:
            while len(running) < ahead and give_out():
                pass
            if not running:
                return
            finished, _ = wait(running, return_when=FIRST_COMPLETED)
            whole = [future for future in finished if not _is_broken(future, broken)]
            for future in whole:
                del running[future]
                yield from future.result()
            if len(whole) < len(finished):
                lost = [task for batch in running.values() for task in batch]
                running.clear()
                _let_go(executor)
                executor = start()
                blamed.update(task.key for task in lost[:1] if len(lost) == 1)
                if blamed[lost[0].key] == TRIES:
                    yield lost[0].key, LOST
                else:
                    suspects.extend(lost)
    finally:
        _let_go(executor, finished=not running)


def _submit(
    executor: Executor, act: Act, batch: list[Task], broken: tuple[type[BaseException], ...]
) -> Future[list[Done]]:
    """One that breaks while nothing is asked of it says so only now."""
    try:
        return executor.submit(act, batch)
    except broken as error:
        future: Future[list[Done]] = Future()
        future.set_exception(error)
        return future


def _let_go(executor: Executor, finished: bool = False) -> None:
    """One that is broken may not even be there to be told."""
    with contextlib.suppress(OSError, RuntimeError, TimeoutError):
        executor.shutdown(wait=finished)


def _is_broken(future: Future[Any], signs: tuple[type[BaseException], ...]) -> bool:
    return future.cancelled() or isinstance(future.exception(), signs)


def _chunks(tasks: Iterable[Task], size: int, ahead: int) -> Iterator[list[Task]]:
    """Chunks of `size`, and smaller ones towards the end, so that no lane is done long before."""
    source = iter(tasks)
    held: deque[Task] = deque()
    while True:
        held.extend(islice(source, 1 + (size - 1) * ahead - len(held)))
        if not held:
            return
        yield [held.popleft() for _ in range(math.ceil(len(held) / ahead))]


def _begin(banks: tuple[Path, ...], stem: socket.socket | None) -> None:
    # Ctrl-C is for the one who started the batch, and a lane ends with that one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    prepare(banks)
    LANE.stem = stem


def _end_with(parent: int) -> None:
    """Killed, a parent cannot say good-bye, and a pool's process would wait for work for ever."""
    while os.getppid() == parent:
        time.sleep(LOOK_SECONDS)
    os._exit(1)
