"""Files that a user named: where one cannot be read or written, one sentence says so."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from grader.errors import UsageError


@contextlib.contextmanager
def reaching(path: Path | str, key: str) -> Iterator[None]:
    """Turn what the system says of this path into UsageError `key`, with the reason."""
    try:
        yield
    except OSError as error:
        detail = error.strerror or str(error)
        raise UsageError(key, path=str(path), detail=detail) from None


def read_bytes(path: Path) -> bytes:
    """All of a file."""
    with reaching(path, "file.unreadable"):
        return path.read_bytes()


def write_bytes(path: Path, content: bytes) -> None:
    """A whole file, in place of what was there."""
    with reaching(path, "file.unwritable"):
        path.write_bytes(content)
