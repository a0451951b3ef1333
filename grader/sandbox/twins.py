"""Zygotes for lanes side by side, forked from one that has imported torch once for all of them.

A lane that can have no twin, as where the first one was killed, starts a zygote of its own.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass

from grader.sandbox.launch import Launched, can_fork, command, launch_zygote
from grader.worker import protocol

END_SECONDS = 5.0


@dataclass
class Twin:
    """The process of a zygote that is no child of ours, as soon as it has greeted."""

    pid: int = 0
    # Stands for this very process, even when another has got its number.
    _handle: int | None = None

    def meet(self, pid: int) -> None:
        """It has greeted."""
        self.pid = pid
        with contextlib.suppress(OSError):
            self._handle = os.pidfd_open(pid)

    def wait(self, timeout: float) -> None:
        """Until it has ended; raises subprocess.TimeoutExpired."""
        if self._handle is None:
            return
        if not select.select([self._handle], [], [], timeout)[0]:
            raise subprocess.TimeoutExpired("zygote", timeout)
        os.close(self._handle)
        self._handle = None

    def kill(self) -> None:
        """End it at once, if it has not ended."""
        if self._handle is not None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._handle, signal.SIGKILL)


def launch_twin(stem: socket.socket) -> Launched | None:
    """A zygote forked from the one at the other end of `stem`; None where it is gone."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        try:
            socket.send_fds(stem, [protocol.pack(0, {"op": "twin"})], [theirs.fileno()])
        except OSError:
            ours.close()
            return None
    return Launched(Twin(), ours)


@contextlib.contextmanager
def open_stem(lanes: int) -> Iterator[socket.socket | None]:
    """The socket where so many lanes can ask for twins; None where each has to do by itself."""
    if lanes < 2 or not can_fork() or not hasattr(os, "pidfd_open"):
        yield None
        return
    launched = launch_zygote(command("rehearsed"))
    try:
        yield launched.control
    finally:
        launched.control.close()
        try:
            launched.process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            launched.process.kill()
            launched.process.wait(END_SECONDS)
