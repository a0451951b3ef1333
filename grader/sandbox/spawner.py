"""Workers that are processes of their own from the start, each with an import of torch."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from grader.errors import ClosedError, LateError, ProtocolError, ZygoteError
from grader.sandbox.ended import Ended
from grader.sandbox.launch import START_SECONDS, launch_worker
from grader.sandbox.line import Line, Output


@dataclass
class Spawned:
    """A worker that is a process of its own from the start."""

    process: subprocess.Popen[bytes]
    line: Line

    @property
    def pid(self) -> int:
        """Its process id."""
        return self.process.pid

    def end(self) -> Ended:
        """Kill and wait."""
        exited = self.process.poll()
        self.process.kill()
        code = self.process.wait()
        self.line.drain()
        self.line.close()
        return Ended(code if exited is None else exited)


@dataclass
class Spawner:
    """A new interpreter for every worker: slower by an import of torch, the same results."""

    _environment: dict[str, str] = field(default_factory=dict)

    @property
    def environment(self) -> Mapping[str, str]:
        """The versions the last worker greeted with."""
        if not self._environment:
            self.make(Output(0)).end()
        return self._environment

    def make(self, output: Output) -> Spawned:
        """Start a worker and wait for its greeting."""
        process = launch_worker()
        ends = []
        for stream in (process.stdout, process.stdin, process.stderr):
            assert stream is not None
            ends.append(os.dup(stream.fileno()))
            stream.close()
        worker = Spawned(process, Line(ends[0], ends[1], ends[2], output))
        try:
            greeting, _ = worker.line.receive(0, time.monotonic() + START_SECONDS)
        except (LateError, ClosedError, ProtocolError):
            worker.end()
            detail = bytes(output.data[-400:]).decode(errors="replace").strip()
            raise ZygoteError("zygote.failed", detail=detail) from None
        self._environment.update(greeting)
        return worker

    def restart(self) -> None:
        """Nothing was lost: every worker is made anew."""

    def close(self) -> None:
        """Nothing stays behind between workers."""
