"""The file of a drill, written so that it is there whole or not at all, and over nothing unseen."""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import secrets
import shutil
import tokenize
from dataclasses import dataclass
from pathlib import Path

from grader.disk import reaching
from grader.errors import UnusableSubmission
from grader.intake import MAX_BYTES, read_submission


@dataclass(frozen=True)
class Draft:
    """The text on the disk; `version` is that of this text and no other."""

    text: str
    version: str


def name_version(text: str) -> str:
    """What a text is called when it is compared."""
    return hashlib.sha256(text.encode()).hexdigest()


def read_draft(path: Path) -> Draft:
    """What is on the disk; raises UnusableSubmission with the reason where it cannot be read."""
    text = read_submission(path).source
    return Draft(text, name_version(text))


def write_draft(path: Path, text: str, known: str) -> Draft | None:
    """Write, unless the disk has what the writer has not seen: then that, and nothing is written.

    `known` is the version that the text began from. A file that is gone is written again. Raises
    UnusableSubmission for a text that is too big or cannot be written in the encoding it declares.
    """
    raw = _encode(path, text)
    try:
        there = read_draft(path)
    except UnusableSubmission as error:
        if error.message.key != "file.missing":
            raise
    else:
        if there.text == text:
            return None
        if there.version != known:
            return there
    _replace(path.resolve(), raw)
    return None


def _encode(path: Path, text: str) -> bytes:
    try:
        raw = text.encode()
        encoding, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
        raw = text.encode(encoding)
    except (SyntaxError, UnicodeError, LookupError):
        raise UnusableSubmission("file.not-text", path=str(path)) from None
    if b"\0" in raw:
        raise UnusableSubmission("file.not-text", path=str(path))
    if len(raw) > MAX_BYTES:
        raise UnusableSubmission("file.too-big", path=str(path), limit=MAX_BYTES >> 10)
    return raw


def _replace(path: Path, raw: bytes) -> None:
    """All of it in one step: whoever reads sees the old text or the new."""
    made = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    with reaching(path, "file.unwritable"):
        try:
            with open(made, "xb") as file:
                file.write(raw)
                file.flush()
                os.fsync(file.fileno())
            with contextlib.suppress(OSError):
                shutil.copymode(path, made)
            os.replace(made, path)
        except OSError:
            made.unlink(missing_ok=True)
            raise
