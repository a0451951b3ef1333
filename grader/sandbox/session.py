"""One submission's conversation with its workers.

A worker that hangs, dies or talks nonsense costs the probe it was at; the next probe gets a
fresh one. Clocks run here, never over there.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from grader.clean import clean
from grader.errors import ClosedError, LateError, ProtocolError, WorkerError, ZygoteError
from grader.model import (
    Array,
    CandidateClass,
    Fault,
    Helper,
    Isolation,
    Limits,
    Observation,
    Printed,
    Probe,
    Status,
    Submission,
)
from grader.sandbox import claims, level, wire
from grader.sandbox.ended import Ended
from grader.sandbox.forge import Forge, Worker
from grader.sandbox.line import Output
from grader.sandbox.reserve import Reserve
from grader.sandbox.sealing import SEAL_SECONDS, Book, seal, text_blob
from grader.worker.protocol import MAX_SETS, NO_WEIGHTS, Blob

MAX_ROUNDS = 8


@dataclass(frozen=True)
class Loaded:
    """What loading a file gave: its classes, or what stopped it."""

    status: Status
    classes: tuple[CandidateClass, ...] = ()
    fault: Fault | None = None
    exit_code: int | None = None
    allowed_seconds: float = 0.0


class HeldWeights:
    """Which sets of weights the present worker has been sent, and their numbers."""

    def __init__(self) -> None:
        self._numbers: dict[int, tuple[int, Mapping[str, Array]]] = {}
        self._last = 0

    def look_up(self, weights: Mapping[str, Array]) -> tuple[int, bool]:
        """The number of this very mapping, and whether the worker has it; it has it afterwards."""
        if not weights:
            return NO_WEIGHTS, True
        # Its own address stands for it: it is held here, so that no other one can get that.
        known = self._numbers.get(id(weights))
        if known is not None:
            return known[0], True
        if len(self._numbers) >= MAX_SETS:
            del self._numbers[next(iter(self._numbers))]
        self._last += 1
        self._numbers[id(weights)] = self._last, weights
        return self._last, False


class Session:
    """Loads one submission and runs probes on it, in workers that are replaced when they fail."""

    def __init__(
        self,
        forge: Forge,
        submission: Submission,
        limits: Limits,
        packages: Sequence[str] = (),
        without: Sequence[str] = (),
        reserve: Reserve | None = None,
        helpers: Sequence[Helper] = (),
    ) -> None:
        self.forge = forge
        self.submission = submission
        self.limits = limits
        self.cpu_seconds = 0.0
        self.packages = packages
        self.helpers = helpers
        # Layers left out, to see what the others are worth.
        self.without = without
        self._reserve = reserve
        self._isolation: Isolation | None = None
        # Words in the source that a person may want to look at, with their lines.
        self.flags: tuple[tuple[str, int], ...] = ()
        # Modules that a worker wanted too late, and how often one had to begin again for it.
        self._wanted: set[str] = set()
        self._rounds = 0
        self._output = Output(limits.output_kib << 10)
        self._worker: Worker | None = None
        self._began = False
        # How the modules were built that the present worker may hold.
        self._kept: set[str] = set()
        self._held = HeldWeights()
        self._until = time.monotonic() + limits.total_seconds
        # Sent after the file is loaded, before it is asked.
        self.later = b""

    def load(self) -> Loaded:
        """Run the file in a fresh worker."""
        self.renew()
        try:
            # Later workers load the file again and print the same again.
            output = Output(0) if self._output.size else self._output
            blob = text_blob(self.submission.source)
            self._worker = worker = self._begin(output, blob)
            reply, _ = worker.line.ask({"op": "scan"}, [blob], SEAL_SECONDS)
            self.flags = claims.read_calls(reply.get("flags", []))
            name = self.submission.path.replace("\\", "/").rpartition("/")[2] or "submission.py"
            seconds = self._seconds(self.limits.load_seconds)
            worker.line.later = memoryview(self.later)
            reply, _ = worker.line.ask({"op": "load", "name": name}, [blob], seconds)
            if self._is_wanting(reply):
                # From the beginning, and so is what it prints.
                self.renew()
                self._output.clear()
                return self.load()
            if reply.get("status") == "ok":
                return Loaded(Status.OK, claims.read_classes(reply))
            return self._not_loaded(claims.read_observation(reply, []))
        except (LateError, ClosedError, ProtocolError) as error:
            return self._not_loaded(self._lost(error, self.limits.load_seconds))

    def run(self, probe: Probe) -> Observation:
        """Make one probe; always an observation, whatever the candidate's code does."""
        if time.monotonic() > self._until:
            budget = Fault("budget", "", (), "", None)
            total = self.limits.total_seconds
            return Observation(Status.TIMED_OUT, budget, allowed_seconds=total)
        if self._worker is None:
            loaded = self.load()
            if loaded.status is not Status.OK:
                return Observation(
                    loaded.status,
                    loaded.fault,
                    exit_code=loaded.exit_code,
                    allowed_seconds=loaded.allowed_seconds,
                )
        assert self._worker is not None
        shared = not probe.fresh and probe.built in self._kept
        try:
            header, blobs = wire.write_probe(probe, *self._held.look_up(probe.weights))
            seconds = self._seconds(self.limits.probe_seconds)
            reply = self._worker.line.ask(header, blobs, seconds)
            if self._is_wanting(reply[0]):
                self.renew()
                return self.run(probe)
            found = claims.read_observation(*reply, shared=shared)
            claims.check_complete(probe, found)
            if probe.fresh:
                self._kept.clear()
            else:
                self._kept.add(probe.built)
        except (LateError, ClosedError, ProtocolError) as error:
            lost = self._lost(error, self.limits.probe_seconds)
            found = lost._replace(shared=shared)
        return found

    def cut_short(self) -> None:
        """From another thread: nobody wants the rest, so what is asked, now or later, times out."""
        self._until = 0.0
        worker = self._worker
        if worker is not None:
            worker.line.is_cut = True

    @property
    def is_cut(self) -> bool:
        """True once it was cut short."""
        return not self._until

    def receive(self, request: int, seconds: float) -> tuple[dict[str, Any], list[Blob]]:
        """The answer to a request that was sent later; raises WorkerError where none comes."""
        if self._worker is None:
            raise ClosedError("worker.closed")
        return self._worker.line.receive(request, time.monotonic() + self._seconds(seconds))

    def renew(self) -> None:
        """End the present worker; the next probe gets a fresh one."""
        self._end()

    def close(self) -> None:
        """End the last worker, now or, with a reserve, when there is time for it."""
        worker = self._worker
        if self._reserve is not None and worker is not None:
            self._worker = None
            worker.line.drain()
            self._reserve.give_back(worker, self._wanted)
        self.renew()

    @property
    def printed(self) -> Printed:
        """What the candidate's code has written so far."""
        text = bytes(self._output.data).decode("utf-8", errors="replace")
        return Printed(clean(text, self._output.keep, keep_lines=True), self._output.size)

    @property
    def isolation(self) -> Isolation:
        """The lowest level that a worker of this session had."""
        return self._isolation or level.judge([], [], None)

    def _begin(self, output: Output, source: Blob) -> Worker:
        """A worker that has shut itself in; what it says of it comes before the file's first line.

        One that was held ready may lack a module; that is told when it is wanted, as of any other.
        """
        ready = None if self._reserve is None or self.without else self._reserve.take(output)
        if ready is None:
            worker = self._make(output)
            packages = (*level.PACKAGES, *self.packages)
            book = Book(packages, self._wanted, self.helpers, self.without)
            found = seal(worker, source, self.limits, book)
        else:
            worker, found = ready
            self._began = True
        self._isolation = level.lower(self._isolation, found)
        return worker

    def _is_wanting(self, reply: Mapping[str, Any]) -> bool:
        """True when a module was missing that can be there from the start, in a fresh worker."""
        wanted = claims.read_wanted(reply) - self._wanted
        self._wanted |= wanted
        self._rounds += bool(wanted)
        return bool(wanted) and self._rounds <= MAX_ROUNDS

    def _seconds(self, wanted: float) -> float:
        return max(0.1, min(wanted, self._until - time.monotonic()))

    def _make(self, output: Output) -> Worker:
        try:
            return self.forge.make(output)
        except ZygoteError:
            if not self._began:
                raise
            # It was there before this file ran: the file has brought it down.
            self.forge.restart()
            return self.forge.make(output)
        finally:
            self._began = True

    def _end(self) -> Ended | None:
        worker, self._worker = self._worker, None
        self._kept.clear()
        self._held = HeldWeights()
        if worker is None:
            return None
        try:
            ended = worker.end()
        except ZygoteError:
            self.forge.restart()
            return None
        self.cpu_seconds += ended.cpu_seconds
        return ended

    def _not_loaded(self, seen: Observation) -> Loaded:
        self.renew()
        return Loaded(seen.status, (), seen.fault, seen.exit_code, seen.allowed_seconds)

    def _lost(self, error: WorkerError, allowed: float) -> Observation:
        ended = self._end()
        if isinstance(error, LateError):
            return Observation(Status.TIMED_OUT, allowed_seconds=allowed)
        if isinstance(error, ProtocolError):
            return Observation(Status.UNREADABLE)
        return Observation(Status.DIED, exit_code=ended.exit_code if ended else None)
