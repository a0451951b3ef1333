"""A zygote from the outside: workers are forked and ended by request, on a socket."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import InitVar, dataclass, field
from typing import Any

from grader.errors import ZygoteError
from grader.sandbox.ended import Ended
from grader.sandbox.launch import START_SECONDS, Launched, launch_zygote
from grader.sandbox.line import Line, Output
from grader.sandbox.twins import Twin, launch_twin
from grader.worker import protocol

CONTROL_SECONDS = 5.0
KILL_SECONDS = 5.0
DATAGRAM = 64 << 10
PIPE_SIZE = 1 << 20


@dataclass
class Forked:
    """A worker that a zygote forked."""

    zygote: Zygote
    pid: int
    line: Line

    def end(self) -> Ended:
        """The zygote is its parent and so the one who can kill and wait without a race."""
        try:
            reply, _ = self.zygote.control({"op": "end", "pid": self.pid})
        finally:
            # Also where the zygote is lost: what was printed is told, and no descriptor stays open.
            self.line.drain()
            self.line.close()
        self.zygote.workers.discard(self.pid)
        return Ended(reply["exit"], reply["cpu_seconds"], reply["max_rss_kib"])


@dataclass
class Zygote:
    """Our end of the socket to a zygote."""

    given: InitVar[Launched | None] = None
    # What it is started with, and again; without one, as usual.
    program: Sequence[str] = ()
    # Where it is asked for first.
    stem: socket.socket | None = None
    request: int = 0
    workers: set[int] = field(default_factory=set)
    _environment: dict[str, str] = field(default_factory=dict)

    def __post_init__(self, given: Launched | None) -> None:
        self.launched = given or self._launch()

    def _launch(self) -> Launched:
        twin = None if self.stem is None else launch_twin(self.stem)
        return twin or launch_zygote(self.program)

    @property
    def environment(self) -> Mapping[str, str]:
        """The versions it greeted with; waits for torch to be imported."""
        self._greet()
        return self._environment

    def _greet(self) -> None:
        if not self._environment:
            greeting = self._await_greeting()
            if "No module named 'torch'" in greeting.get("failed", ""):
                raise ZygoteError("zygote.no-torch")
            if "failed" in greeting:
                raise ZygoteError("zygote.failed", detail=greeting["failed"])
            if isinstance(self.launched.process, Twin):
                self.launched.process.meet(int(greeting["pid"]))
            greeting.pop("pid", None)
            self._environment.update(greeting)

    def _await_greeting(self) -> dict[str, Any]:
        try:
            return self._receive(START_SECONDS)[0]
        except ZygoteError:
            if self.stem is None:
                raise
            # What this would be a twin of has ended, and why is for one's own zygote to say.
            self.stem = None
            self.restart()
            return self._receive(START_SECONDS)[0]

    def make(self, output: Output) -> Forked:
        """Fork a worker on three fresh pipes; the zygote keeps none of them."""
        (their_in, ours_out), (ours_in, their_out), (ours_printed, their_printed) = (
            os.pipe() for _ in range(3)
        )
        for descriptor in (ours_in, ours_out):
            _widen(descriptor)
        theirs = [their_in, their_out, their_printed]
        try:
            reply, _ = self.control({"op": "fork"}, theirs)
        finally:
            for descriptor in theirs:
                os.close(descriptor)
        self.workers.add(int(reply["pid"]))
        return Forked(self, int(reply["pid"]), Line(ours_in, ours_out, ours_printed, output))

    def control(
        self, header: dict[str, Any], descriptors: list[int] | None = None
    ) -> tuple[dict[str, Any], list[protocol.Blob]]:
        """One request to the zygote itself, which always answers at once."""
        self._greet()
        self.request += 1
        frame = protocol.pack(self.request, header)
        try:
            socket.send_fds(self.launched.control, [frame], descriptors or [])
        except OSError:
            raise ZygoteError("zygote.gone") from None
        return self._receive(CONTROL_SECONDS)

    def restart(self) -> None:
        """A new zygote in place of one that was killed or stopped."""
        self.launched.control.close()
        self._kill()
        self.launched = self._launch()
        self._environment.clear()

    def close(self) -> None:
        """It ends when its socket closes; if not, it is killed."""
        self.launched.control.close()
        try:
            self.launched.process.wait(2.0)
        except subprocess.TimeoutExpired:
            self._kill()

    def _kill(self) -> None:
        """End it, and first its workers: one that traces it would keep it from being waited for."""
        for pid in self.workers:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        self.workers.clear()
        self.launched.process.kill()
        # What a worker has started may trace it too: then it is left, rather than waited for.
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.launched.process.wait(KILL_SECONDS)

    def _receive(self, seconds: float) -> tuple[dict[str, Any], list[protocol.Blob]]:
        self.launched.control.settimeout(seconds)
        try:
            data = self.launched.control.recv(DATAGRAM)
        except TimeoutError:
            raise ZygoteError("zygote.silent", seconds=seconds) from None
        except OSError:
            raise ZygoteError("zygote.gone") from None
        if not data:
            raise ZygoteError("zygote.gone")
        return protocol.unpack(data[protocol.PREFIX_SIZE :], b"")


def _widen(descriptor: int) -> None:
    """Let a pipe hold a whole frame, so that neither side is woken for every 64 KiB of it."""
    try:
        import fcntl

        fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, PIPE_SIZE)
    except (ImportError, AttributeError, OSError):
        # Smaller pipes are slower, and that is all.
        pass
