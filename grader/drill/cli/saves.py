"""Notices that the candidate has saved: whatever an editor does to a file, its new text comes out.

Editors write in place, replace the file by another, or delete it first; a look at the file's
state many times a second sees all of these on every system.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from grader.errors import UnusableSubmission
from grader.intake import read_submission
from grader.model import Message

# Some editors empty or remove a file before they write it: only what lasts is told.
SETTLE_SECONDS = 0.3

State = tuple[int, int, int]


class Saves:
    """The file of one drill, as it was last seen."""

    def __init__(self, path: Path, known: str | None = None) -> None:
        """`known` is text that is no news, such as the stub."""
        self.path = path
        self._state: State | None = None
        self._text = known
        # Since when it is empty, gone or not to be read; and whether that was told.
        self._ill_since: float | None = None
        self._is_told = False

    def look(self) -> str | Message | None:
        """The new text after a save, the sentence of why it cannot be read, or None."""
        state = _read_state(self.path)
        if state is not None and state == self._state:
            return None
        try:
            text = read_submission(self.path).source
        except UnusableSubmission as error:
            return None if self._is_told or not self._lasts() else self._tell(error.message)
        if _read_state(self.path) != state or (not text and not self._lasts()):
            # Being written this very moment.
            return None
        self._state, self._ill_since, self._is_told = state, None, False
        before, self._text = self._text, text
        return None if text == before else text

    def _lasts(self) -> bool:
        now = time.monotonic()
        if self._ill_since is None:
            self._ill_since = now
        return now - self._ill_since >= SETTLE_SECONDS

    def _tell(self, message: Message) -> Message:
        self._state, self._is_told = None, True
        if message.key == "file.missing":
            return Message("drill.file.gone", {"path": str(self.path)})
        return message


def _read_state(path: Path) -> State | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
