"""One worker's pipes, seen from the trusted end: every wait has a deadline."""

from __future__ import annotations

import os
import select
import sys
import time
from dataclasses import dataclass, field
from typing import Any

from grader.errors import ClosedError, LateError, ProtocolError
from grader.worker import protocol

CHUNK = 1 << 18
# How soon a full pipe is tried again.
LATER_SECONDS = 0.005
# How soon a wait that is cut short from another thread ends.
CUT_SECONDS = 0.1
# Of printed text at once: more than a pipe can hold.
MOST_CHUNKS = 64


@dataclass
class Output:
    """What candidate code prints: the first `keep` bytes, and the count of all."""

    keep: int
    data: bytearray = field(default_factory=bytearray)
    size: int = 0

    def add(self, part: bytes) -> None:
        """Keep what still fits, count the rest."""
        self.size += len(part)
        self.data += part[: max(0, self.keep - len(self.data))]

    def clear(self) -> None:
        """Forget it all: it is going to be printed again."""
        self.data.clear()
        self.size = 0


@dataclass
class Line:
    """Frames out on `writer`, frames in on `reader`, printed text in on `printed`."""

    reader: int
    writer: int
    printed: int
    output: Output
    request: int = 0
    # What is sent while an answer is waited for: questions that will probably be asked.
    later: memoryview = field(default_factory=lambda: memoryview(b""))
    # Set from another thread: no answer is waited for any longer.
    is_cut: bool = False
    _printed_open: bool = True
    # Read with what was asked for, and not asked for yet: one read mostly takes a whole frame.
    _ahead: bytearray = field(default_factory=bytearray)
    _waiting: dict[tuple[int, bool], Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for descriptor in (self.writer, self.reader, self.printed):
            if sys.platform != "win32":
                os.set_blocking(descriptor, False)

    def ask(
        self, header: dict[str, Any], blobs: list[protocol.Blob], seconds: float
    ) -> tuple[dict[str, Any], list[protocol.Blob]]:
        """Send one request and wait for its reply, `seconds` in all.

        Raises LateError, ClosedError or ProtocolError; the worker is then of no more use.
        """
        self.request += 1
        deadline = time.monotonic() + seconds
        self._send(protocol.pack(self.request, header, blobs), deadline)
        return self.receive(self.request, deadline)

    def receive(self, request: int, deadline: float) -> tuple[dict[str, Any], list[protocol.Blob]]:
        """The reply to `request`; a total deadline, so that a byte a second does not help."""
        try:
            prefix = protocol.read_prefix(self._read(protocol.PREFIX_SIZE, deadline))
            if prefix.request != request:
                raise protocol.FrameError(f"answers request {prefix.request}, not {request}")
            header = self._read(prefix.header_size, deadline)
            return protocol.unpack(header, self._read(prefix.payload_size, deadline))
        except protocol.FrameError as error:
            raise ProtocolError("worker.unreadable", detail=str(error)) from None

    def drain(self) -> None:
        """Take what has been printed and not read yet; one that prints for ever is left at it."""
        for _ in range(MOST_CHUNKS):
            if not self._printed_open or not self._ready(self.printed, writing=False, seconds=0):
                return
            self._take_printed()

    def close(self) -> None:
        """Close our ends."""
        for descriptor in (self.reader, self.writer, self.printed):
            os.close(descriptor)

    def _send(self, data: bytes, deadline: float) -> None:
        view = memoryview(data)
        while view:
            try:
                view = view[os.write(self.writer, view[:CHUNK]) :]
            except BlockingIOError:
                self._wait(self.writer, deadline, writing=True)
            except OSError:
                raise ClosedError("worker.closed") from None

    def _send_later(self) -> None:
        """As much as the pipe takes now."""
        try:
            while self.later:
                self.later = self.later[os.write(self.writer, self.later[:CHUNK]) :]
        except OSError:
            # Full, or closed, which whoever waits for the answer will see.
            return

    def _read(self, size: int, deadline: float) -> bytes:
        while len(self._ahead) < size:
            self._wait(self.reader, deadline, writing=False)
            try:
                part = os.read(self.reader, CHUNK)
            except BlockingIOError:
                continue
            if not part:
                raise ClosedError("worker.closed")
            self._ahead += part
        wanted = bytes(self._ahead[:size])
        del self._ahead[:size]
        return wanted

    def _wait(self, descriptor: int, deadline: float, writing: bool) -> None:
        while True:
            left = deadline - time.monotonic()
            if left <= 0 or self.is_cut:
                raise LateError("worker.late")
            left = min(left, CUT_SECONDS)
            if self.later and not writing:
                self._send_later()
            if self.later:
                # Its reader may be waiting for the rest.
                left = min(left, LATER_SECONDS)
            if self._ready(descriptor, writing, left):
                return
            self.drain()

    def _take_printed(self) -> None:
        try:
            part = os.read(self.printed, CHUNK)
        except BlockingIOError:
            return
        if not part:
            self._printed_open = False
        self.output.add(part)

    def _ready(self, descriptor: int, writing: bool, seconds: float) -> bool:
        """True when `descriptor` can be used; False when time is up or there is text to drain."""
        if sys.platform == "win32":
            return writing or _peek(descriptor, min(seconds, 0.005))
        waiting = self._watched(descriptor, writing)
        # Rounded up: a wait of 0 ms would spin through the last millisecond.
        found = dict(waiting.poll(min(int(seconds * 1000) + 1, 60_000) if seconds else 0))
        return descriptor in found

    def _watched(self, descriptor: int, writing: bool) -> Any:
        """What waits for this descriptor, and for printed text while there may be some."""
        key = descriptor, self._printed_open
        if key not in self._waiting:
            self._waiting[key] = waiting = select.poll()
            waiting.register(descriptor, select.POLLOUT if writing else select.POLLIN)
            if self._printed_open and descriptor != self.printed:
                waiting.register(self.printed, select.POLLIN)
        return self._waiting[key]


def _peek(descriptor: int, seconds: float) -> bool:
    """Windows has no poll for pipes: look whether bytes are there, or the pipe is broken."""
    if sys.platform != "win32":
        raise OSError("only on Windows")
    import _winapi
    import msvcrt

    try:
        available: int = _winapi.PeekNamedPipe(msvcrt.get_osfhandle(descriptor))[0]
    except BrokenPipeError:
        return True
    if not available:
        time.sleep(seconds)
    return available > 0
