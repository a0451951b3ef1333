"""What was called, and from which line."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

# Name and line; 0 where the file has no frame on the stack, as in the way back.
Call = tuple[str, int]

MAX_CALLS = 50
_calls: set[Call] = set()
_depth = 0
_file = ""


def read(file: str) -> None:
    """The file whose lines are looked for from now on."""
    global _file
    _file = file


@contextlib.contextmanager
def noted(name: str) -> Iterator[None]:
    """Note the call that this block makes, and none of those that it makes in turn."""
    global _depth
    if not _depth and len(_calls) < MAX_CALLS:
        line = _line()
        # Where torch goes back by itself, it is the way there that counts.
        if line or not name.endswith("_backward"):
            _calls.add((name, line))
    _depth += 1
    try:
        yield
    finally:
        _depth -= 1


def take() -> list[Call]:
    """The calls since the last time."""
    found = sorted(_calls)
    _calls.clear()
    return found


def _line() -> int:
    frame = sys._getframe(3)
    while frame is not None:
        if frame.f_code.co_filename == _file:
            return frame.f_lineno
        frame = frame.f_back  # type: ignore[assignment]
    return 0
