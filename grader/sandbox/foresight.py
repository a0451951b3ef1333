"""A session that asks ahead: what the last one on this file was asked, it will probably be asked.

Graded again with one seed, most files are asked nearly the same in nearly the same order. So a
first worker gets all of that at once, and works while its answers are judged here. What was not
foreseen is asked of a second worker, and what was foreseen in vain is not looked at. Where the
first one fails in any way, all is as if it had never been.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from grader.errors import ClosedError, WorkerError
from grader.model import (
    Array,
    Earlier,
    Input,
    Isolation,
    Observation,
    Option,
    Printed,
    Probe,
    Submission,
)
from grader.sandbox import claims, wire
from grader.sandbox.reserve import Reserve
from grader.sandbox.session import HeldWeights, Loaded, Session
from grader.worker import protocol

# To seal, to scan and to load it come before what is asked of a file.
FIRST_REQUEST = 4
# So many misses in the beginning, and this is another file.
STRANGE = 3
# Sets of weights whose names are remembered from one version of a file to the next.
MOST_KNOWN = 512


# All that a probe asks, in a form that can be compared.
Name = tuple[Hashable, ...]
NO_ARRAYS: Mapping[str, Any] = {"calls": (), "weights": {}, "cotangent": None, "directions": ()}


class Fingerprints:
    """Names probes by all that they hold, wherever their weights are kept."""

    def __init__(self) -> None:
        self._weights: dict[int, tuple[bytes, Mapping[str, Array]]] = {}

    def take(self, probe: Probe) -> Name:
        """The same for probes that ask the same."""
        # True and 1 are equal, and look different.
        plain = repr(probe._replace(**NO_ARRAYS))
        calls = tuple(tuple(map(_name, call)) for call in probe.calls)
        more = (probe.cotangent, *probe.directions)
        weights = self._of_weights(probe.weights) if probe.weights else b""
        return plain, weights, calls, tuple(map(_name, more))

    def _of_weights(self, weights: Mapping[str, Array]) -> bytes:
        # By its address, and held so that no other mapping can get that.
        if id(weights) not in self._weights:
            if len(self._weights) >= MOST_KNOWN:
                self._weights.clear()
            told = hashlib.blake2b(digest_size=16)
            for name, value in weights.items():
                told.update(f"{name} {value.shape} {value.dtype}".encode())
                told.update(value.tobytes())
            self._weights[id(weights)] = told.digest(), weights
        return self._weights[id(weights)][0]


def _name(item: Input | Option | Earlier | Array | None) -> Hashable:
    if isinstance(item, np.ndarray):
        return item.tobytes(), item.shape, item.dtype.str
    return (_name(item.value), *item[1:]) if isinstance(item, Input) else repr(item)


@dataclass(frozen=True)
class Script:
    """Probes in the order they were asked, ready to be sent."""

    names: Sequence[Name]
    probes: Sequence[Probe]
    frames: bytes


def write_script(asked: Sequence[tuple[Name, Probe]]) -> Script:
    """The script of what a session was asked."""
    held = HeldWeights()
    frames = []
    for number, (_, probe) in enumerate(asked):
        request = wire.write_probe(probe, *held.look_up(probe.weights))
        frames.append(protocol.pack(FIRST_REQUEST + number, *request))
    return Script([name for name, _ in asked], [probe for _, probe in asked], b"".join(frames))


class First:
    """The first worker's session and the answers in its script's order."""

    def __init__(self, session: Session, script: Script) -> None:
        self.session = session
        self.session.later = script.frames
        self.script = script
        self.hits = 0
        self.is_loaded = False
        # The first entry whose answer has not been taken, and the modules that are kept by then.
        self._at = 0
        self._kept: set[str] = set()

    def load(self) -> Loaded:
        """Run the file, and have the whole script asked behind it."""
        self.is_loaded = True
        return self.session.load()

    def find(self, name: Name) -> int | None:
        """Where this probe is in the script, if its answer is still to come."""
        try:
            return self.script.names.index(name, self._at)
        except ValueError:
            return None

    def take(self, at: int) -> Observation:
        """The answer to this entry, those before it passed over; raises WorkerError."""
        seconds = self.session.limits.probe_seconds
        while True:
            probe = self.script.probes[self._at]
            reply = self.session.receive(FIRST_REQUEST + self._at, seconds)
            shared = not probe.fresh and probe.built in self._kept
            if probe.fresh:
                self._kept.clear()
            else:
                self._kept.add(probe.built)
            self._at += 1
            if self._at > at:
                break
        if claims.read_wanted(reply[0]):
            # With that module from the start, the second worker will answer.
            raise ClosedError("worker.closed")
        found = claims.read_observation(*reply, shared=shared)
        claims.check_complete(probe, found)
        self.hits += 1
        return found


class Foresight(Session):
    """The second worker's session, with the first one ahead of it as long as that is of use."""

    def __init__(
        self,
        submission: Submission,
        reserve: Reserve,
        script: Script | None,
        fingerprints: Fingerprints,
    ) -> None:
        given = reserve.forge, submission, reserve.limits, reserve.packages
        super().__init__(*given, reserve=reserve, helpers=reserve.helpers)
        self.asked: list[tuple[Name, Probe]] = []
        self._fingerprints = fingerprints
        self._misses = 0
        self._first: First | None = None
        if script is not None:
            ahead = Session(*given, reserve=reserve, helpers=reserve.helpers)
            self._first = First(ahead, script)
        # What the file printed and how it was shut in is told of the worker that it ran in first.
        self._told = self._first

    def load(self) -> Loaded:
        """Run the file in the first worker; in the second once that is needed."""
        if self._first is None or self._first.is_loaded:
            return super().load()
        loaded = self._first.load()
        self.flags = self._first.session.flags
        return loaded

    def run(self, probe: Probe) -> Observation:
        """Make one probe, or take its answer where it was foreseen."""
        name = self._fingerprints.take(probe)
        self.asked.append((name, probe))
        return self._foresee(name) or super().run(probe)

    def cut_short(self) -> None:
        """From another thread: nothing is waited for any longer, from neither worker."""
        super().cut_short()
        first = self._first
        if first is not None:
            first.session.cut_short()

    def close(self) -> None:
        """End both workers."""
        self._give_up()
        super().close()

    @property
    def printed(self) -> Printed:
        """What the file wrote in the worker that it ran in first."""
        return super().printed if self._told is None else self._told.session.printed

    @property
    def isolation(self) -> Isolation:
        """The lower level of the two workers."""
        if self._told is None or self._isolation is not None:
            return super().isolation
        return self._told.session.isolation

    def _foresee(self, name: Name) -> Observation | None:
        """The answer that is on its way, or None where the second worker has to give it."""
        if self._first is None or self.is_cut:
            return None
        at = self._first.find(name)
        if at is None:
            self._misses += 1
            if self._misses > STRANGE and not self._first.hits:
                self._give_up()
            return None
        try:
            return self._first.take(at)
        except WorkerError:
            self._give_up()
            return None

    def _give_up(self) -> None:
        if self._first is not None:
            self._first.session.close()
            self._first = None
