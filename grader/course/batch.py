"""A course graded: what is there, what is still good, what to grade, and what came out."""

from __future__ import annotations

import datetime
import functools
import hashlib
import importlib.metadata
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from grader import __version__
from grader.bank import load_exercise
from grader.calling import header_exercise
from grader.course.gather import Entry
from grader.course.settings import Settings
from grader.course.store import Result, Store
from grader.course.work import Done, Task
from grader.errors import UnusableSubmission, UsageError
from grader.grading import Request
from grader.model import (
    FREE,
    Graded,
    Isolation,
    Message,
    Printed,
    Report,
    Submission,
    stored,
)

# Results are made durable together, a few at a time and never long after they came.
HELD = 16
HELD_SECONDS = 1.0
# At the end of the fingerprint of a result whose report has evidence.
PICTURED = "+pictures"


class Executor(Protocol):
    """What runs tasks: lanes of this machine, or of many."""

    def run(self, tasks: Iterable[Task]) -> Iterator[Done]:
        """What became of each task, as it comes, in any order."""
        ...


@dataclass
class Progress:
    """What a batch has done so far, for whoever watches."""

    total: int
    known: int = 0
    graded: int = 0
    passed: int = 0
    refused: int = 0
    errors: int = 0
    began: float = field(default_factory=time.monotonic)

    def count(self, report: Report) -> None:
        """One more."""
        self.graded += 1
        self.passed += report.all_passed
        self.refused += report.refusal is not None and not report.has_errors
        self.errors += report.has_errors

    @property
    def rate(self) -> float:
        """Files a second, since the start."""
        return self.graded / max(time.monotonic() - self.began, 1e-9)

    @property
    def seconds_left(self) -> float:
        """At this rate."""
        return (self.total - self.known - self.graded) / self.rate if self.graded else 0.0


@dataclass(frozen=True)
class Batch:
    """A course's submissions and how they are graded.

    Unless they are `trusted`, nothing is graded where files cannot be shut in. Where reports are to
    be `pictured`, a result without evidence is not good enough.
    """

    entries: Sequence[Entry]
    settings: Settings
    seed: int
    class_name: str | None = None
    trusted: bool = False
    pictured: bool = False

    def run(
        self, store: Store, executor: Executor, tell: Callable[[Progress], None], again: bool
    ) -> Progress:
        """Grade what has no good result yet, or everything `again`; keep each as it comes.

        Raises UsageError where the files are not trusted and the first of them turns out to be at
        isolation level none.
        """
        known = store.known()
        entries = {entry.key: entry for entry in self.entries}
        progress = Progress(len(entries))
        keeper = Keeper(store, progress, tell)
        prints: dict[str, tuple[str, str]] = {}

        def tasks() -> Iterator[Task]:
            for entry in self.entries:
                try:
                    submission = entry.read()
                except UnusableSubmission as error:
                    keeper.put(self._result(entry, self._refuse(entry, error.message), "", ""))
                    continue
                name, fingerprint = self._fingerprint(submission.source)
                good = [(submission.sha256, fingerprint + mark) for mark in self._marks]
                if not again and known.get(entry.key) in good:
                    progress.known += 1
                    continue
                prints[entry.key] = good[0]
                yield Task(entry.key, submission, self._request(name))

        try:
            for key, data in executor.run(tasks()):
                sha256, fingerprint = prints.pop(key)
                if isinstance(data, Message):
                    report = self._refuse(entries[key], data)
                else:
                    report = stored.load(data)
                if report.isolation.level == "none" and not self.trusted and report.verdicts:
                    raise UsageError("course.not-sealed")
                keeper.put(self._result(entries[key], report, sha256, fingerprint))
        finally:
            # Interrupted or not, what has come is kept.
            keeper.flush()
        return progress

    @property
    def _marks(self) -> Sequence[str]:
        """What a fingerprint may end with to be good enough; the first is that of new results."""
        return (PICTURED,) if self.pictured else ("", PICTURED)

    def _request(self, name: str) -> Request:
        return Request(
            self.seed, name, self.class_name, pictured=self.pictured, terms=self.settings.terms
        )

    def _fingerprint(self, source: str) -> tuple[str, str]:
        """The exercise a file answers, and what its grade depends on besides the file."""
        name = self.settings.exercise or header_exercise(source) or FREE
        return name, _fingerprint(name, self.settings, self.seed, self.class_name)

    def _refuse(self, entry: Entry, why: Message) -> Report:
        return Report(
            submission=Submission(entry.key, "", ""),
            exercise=self.settings.exercise or "",
            seed=self.seed,
            verdicts=(),
            areas={},
            convention=(),
            isolation=Isolation("none", ()),
            environment={},
            printed=Printed("", 0),
            seconds=0.0,
            refusal=why,
        )

    def _result(self, entry: Entry, report: Report, sha256: str, fingerprint: str) -> Result:
        at = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
        graded = Graded(entry.owner.student, report, at, entry.owner.name, entry.attempt)
        # A fault of ours is no result to go by: the file is graded again next time.
        good_for = "" if report.has_errors else fingerprint
        return Result(entry.key, graded, sha256, good_for)


@dataclass
class Keeper:
    """Puts results into the store, several at a time, and tells how far it is."""

    store: Store
    progress: Progress
    tell: Callable[[Progress], None]
    held: list[Result] = field(default_factory=list)
    kept: float = field(default_factory=time.monotonic)

    def put(self, result: Result) -> None:
        """One more result."""
        self.held.append(result)
        self.progress.count(result.graded.report)
        if len(self.held) >= HELD or time.monotonic() - self.kept > HELD_SECONDS:
            self.flush()
        self.tell(self.progress)

    def flush(self) -> None:
        """Make everything durable."""
        self.store.put(self.held)
        self.held.clear()
        self.kept = time.monotonic()


@functools.cache
def _versions() -> str:
    return f"{__version__} {importlib.metadata.version('torch')}"


def _fingerprint(name: str, settings: Settings, seed: int, class_name: str | None) -> str:
    """Grader, torch, bank, terms and seed: another one of these may give another grade."""
    exercise = load_exercise(name).on_terms(settings.terms)
    imports = exercise.packages, exercise.helpers
    bank = exercise.version, exercise.areas, exercise.limits, imports
    depends = (_versions(), name, *bank, seed)
    return hashlib.sha256(repr((*depends, class_name)).encode()).hexdigest()[:16]
