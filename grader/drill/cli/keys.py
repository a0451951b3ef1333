"""What is typed while the file is watched: single keys in a terminal, else whole lines."""

from __future__ import annotations

import codecs
import contextlib
import os
import queue
import sys
import threading
from collections.abc import Iterator
from typing import Any

# No one is there to type any more.
END = "\x04"
ESCAPE = "\x1b"
CHUNK = 4096


class Keys:
    """Standard input, read by a thread of its own so that nothing else ever waits for it."""

    def __init__(self) -> None:
        self._typed: queue.SimpleQueue[str] = queue.SimpleQueue()
        # What came together with the last line, and before anything that is still in the queue.
        self._rest = ""
        self.single = False
        threading.Thread(target=self._read, daemon=True).start()

    def get(self, seconds: float | None) -> str:
        """What was typed, END after its end, or "" where nothing was for so long."""
        if self._rest:
            rest, self._rest = self._rest, ""
            return rest
        try:
            return self._typed.get(timeout=seconds)
        except queue.Empty:
            return ""

    def get_keys(self, seconds: float) -> list[str]:
        """The keys pressed meanwhile, or the first letters of the words of a line."""
        typed = self.get(seconds)
        if not self.single:
            line, _, self._rest = typed.partition("\n")
            return [word[0].lower() for word in line.split()]
        # Arrows and the like send letters after an escape, which nobody meant.
        return [] if typed.startswith(ESCAPE) else list(typed.lower())

    def wake(self) -> None:
        """Let whoever waits look around."""
        self._typed.put("")

    def line(self) -> str | None:
        """One whole line without its end; None once nothing more can come."""
        pieces: list[str] = []
        while True:
            typed = self.get(None)
            if typed == END:
                self._typed.put(END)
                return "".join(pieces) or None
            piece, end, rest = typed.partition("\n")
            pieces.append(piece)
            if end:
                self._rest = rest
                return "".join(pieces).rstrip("\r")

    @contextlib.contextmanager
    def one_by_one(self) -> Iterator[None]:
        """Keys as they are pressed, and not shown, where this is a terminal that can."""
        saved = _take_keys()
        self.single = saved is not None
        try:
            yield
        finally:
            self.single = False
            _give_back(saved)

    def _read(self) -> None:
        decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        while True:
            try:
                raw = os.read(sys.__stdin__.fileno(), CHUNK) if sys.__stdin__ else b""
            except (OSError, ValueError):
                raw = b""
            if not raw:
                self._typed.put(END)
                return
            text = decode(raw)
            if text:
                self._typed.put(text)


def _take_keys() -> Any:
    """Single keys from now on; what has to be restored, or None where it cannot be done."""
    try:
        import termios
        import tty

        descriptor = sys.stdin.fileno()
        saved = termios.tcgetattr(descriptor)
        tty.setcbreak(descriptor)
        return saved
    except (ImportError, OSError, ValueError, AttributeError):
        return None
    except Exception as error:
        # termios has an exception of its own, and where there is no termios it has no name.
        if type(error).__name__ != "error":
            raise
        return None


def _give_back(saved: Any) -> None:
    if saved is not None:
        import termios

        termios.tcsetattr(sys.stdin.fileno(), termios.TCSADRAIN, saved)
