"""Workers held ready for a file that is graded again and again.

What is spent is ended, and others are made and sealed, when there is time for it: after a report
rather than before it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from grader.errors import WorkerError
from grader.model import Helper, Isolation, Limits
from grader.sandbox import level
from grader.sandbox.forge import Forge, Worker
from grader.sandbox.line import Output
from grader.sandbox.sealing import Book, seal, text_blob

# One for what is foreseen, one for what is not.
AHEAD = 2


@dataclass
class Reserve:
    """Workers for files with these limits and imports; used by one thread at a time."""

    forge: Forge
    limits: Limits
    packages: Sequence[str] = ()
    helpers: Sequence[Helper] = ()
    _ready: list[tuple[Worker, Isolation]] = field(default_factory=list)
    _spent: list[Worker] = field(default_factory=list)
    _wanted: set[str] = field(default_factory=set)

    def take(self, output: Output) -> tuple[Worker, Isolation] | None:
        """A worker that is ready, printing to `output` from now on, and its isolation."""
        if not self._ready:
            return None
        worker, found = self._ready.pop()
        worker.line.output = output
        return worker, found

    def give_back(self, worker: Worker, wanted: Collection[str]) -> None:
        """A worker that has done its work, and modules that are to be there the next time."""
        self._spent.append(worker)
        self._wanted |= {*wanted}

    def restock(self, source: str) -> None:
        """End what is spent, and have others ready, with what this source imports."""
        packages = (*level.PACKAGES, *self.packages)
        book = Book(packages, self._wanted, self.helpers, rehearsed=True)
        try:
            self._end_spent()
            while len(self._ready) < AHEAD:
                worker = self.forge.make(Output(0))
                # Among the spent until it is sealed: it may die of it.
                self._spent.append(worker)
                found = seal(worker, text_blob(source), self.limits, book)
                self._ready.append((self._spent.pop(), found))
        except WorkerError:
            # The next grade begins without, and says what is wrong if it still is.
            return

    def close(self) -> None:
        """End all of them."""
        self._spent += [worker for worker, _ in self._ready]
        self._ready.clear()
        try:
            self._end_spent()
        except WorkerError:
            # The zygote is lost, and they with it.
            self._spent.clear()

    def _end_spent(self) -> None:
        while self._spent:
            self._spent.pop().end()
