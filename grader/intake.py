"""From a path to source text, without opening what should not be opened."""

from __future__ import annotations

import hashlib
import io
import os
import stat
import tokenize
from pathlib import Path

from grader import notebook
from grader.errors import UnusableSubmission
from grader.model import Submission

MAX_BYTES = 256 << 10


def read_submission(path: Path) -> Submission:
    """The file as a submission; raises UnusableSubmission with the reason in words.

    Opened without following a link and without waiting for a pipe or a device, and looked at only
    once it is known to be a plain file of a plausible size.
    """
    return submit_bytes(str(path), _read(path, limit_of(path)))


def submit_bytes(path: str, raw: bytes) -> Submission:
    """What a file held, or a member of an archive, as a submission, by the same rules."""
    if len(raw) > limit_of(Path(path)):
        raise UnusableSubmission("file.too-big", path=path, limit=limit_of(Path(path)) >> 10)
    take = _take_cells if _is_notebook(Path(path)) else decode
    return Submission(path, take(raw, Path(path)), hashlib.sha256(raw).hexdigest())


def limit_of(path: Path) -> int:
    """The most bytes that a file of this name may have: a notebook's outputs take room."""
    return notebook.MAX_BYTES if _is_notebook(path) else MAX_BYTES


def _is_notebook(path: Path) -> bool:
    return path.suffix.lower() == notebook.SUFFIX


def submit_text(path: str, source: str) -> Submission:
    """Source text of our own as a submission; `path` is what it is called."""
    return Submission(path, source, hashlib.sha256(source.encode()).hexdigest())


def _take_cells(raw: bytes, path: Path) -> str:
    """The code cells of a notebook, held to what a file may have."""
    try:
        source = notebook.read_cells(raw)
        encoded = source.encode()
    except ValueError:
        raise UnusableSubmission("file.not-notebook", path=str(path)) from None
    if len(encoded) > MAX_BYTES:
        raise UnusableSubmission("file.too-big", path=str(path), limit=MAX_BYTES >> 10)
    # Its cells are Python text by now, and have no encoding of their own to declare.
    if "\0" in source:
        raise UnusableSubmission("file.not-notebook", path=str(path))
    return source


def _read(path: Path, limit: int) -> bytes:
    flags = os.O_RDONLY
    for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_NOCTTY", "O_BINARY"):
        flags |= getattr(os, name, 0)
    try:
        # A link given by hand on the command line is the user's own wish; it is followed once.
        real = path.resolve() if path.is_symlink() else path
        if real.is_dir():
            raise UnusableSubmission("file.directory", path=str(path))
        descriptor = os.open(real, flags)
    except FileNotFoundError:
        raise UnusableSubmission("file.missing", path=str(path)) from None
    except (OSError, RuntimeError, ValueError) as error:
        detail = getattr(error, "strerror", None) or str(error)
        raise UnusableSubmission("file.unreadable", path=str(path), detail=detail) from None
    with open(descriptor, "rb") as file:
        info = os.fstat(descriptor)
        if not stat.S_ISREG(info.st_mode):
            raise UnusableSubmission("file.not-plain", path=str(path))
        # By its size first: of a file that is too big nothing is read.
        raw = file.read(limit + 1) if info.st_size <= limit else b""
    if max(info.st_size, len(raw)) > limit:
        raise UnusableSubmission("file.too-big", path=str(path), limit=limit >> 10)
    return raw


def decode(raw: bytes, path: Path) -> str:
    """Source text by the rules of Python itself (PEP 263), newlines made plain."""
    if b"\0" in raw:
        raise UnusableSubmission("file.not-text", path=str(path))
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
        text = raw.decode(encoding)
        # Some codecs give half characters, which no output can hold.
        text.encode()
    except (SyntaxError, UnicodeError, LookupError):
        raise UnusableSubmission("file.not-text", path=str(path)) from None
    return text.replace("\r\n", "\n").replace("\r", "\n")
