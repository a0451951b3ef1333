"""Where workers come from: forked by a zygote, or spawned one by one where fork is not safe."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from typing import Protocol

from grader.sandbox.ended import Ended
from grader.sandbox.launch import Launched, can_fork, command
from grader.sandbox.line import Line, Output
from grader.sandbox.spawner import Spawner
from grader.sandbox.zygote import Zygote


class Worker(Protocol):
    """A running worker: a line to it, and the means to end it."""

    line: Line

    @property
    def pid(self) -> int:
        """Its process id."""
        ...

    def end(self) -> Ended:
        """Kill it if it still runs; say how it ended."""
        ...


class Forge(Protocol):
    """Makes workers. Both kinds give the same results, at different speed."""

    @property
    def environment(self) -> Mapping[str, str]:
        """The versions a report names."""
        ...

    def make(self, output: Output) -> Worker:
        """A fresh worker, its printed text going to `output`."""
        ...

    def restart(self) -> None:
        """Begin afresh after what makes the workers was lost."""
        ...

    def close(self) -> None:
        """End everything this forge started."""
        ...


def open_forge(
    launched: Launched | None = None,
    fork: bool | None = None,
    rehearsed: bool = False,
    stem: socket.socket | None = None,
) -> Forge:
    """The forge for this system, on a zygote that may be on its way up already.

    One for many files is `rehearsed`: up a little later, and its workers are smaller and quicker.
    Its zygote is a twin of the one at the other end of `stem`, where there is such.
    """
    if launched is not None or (can_fork() if fork is None else fork):
        return Zygote(launched, command("rehearsed") if rehearsed else (), stem)
    return Spawner()
