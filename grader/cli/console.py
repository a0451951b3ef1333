"""What is printed, written and left with: nothing else in the package does any of these."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NoReturn

from grader.clean import clean
from grader.cli.codes import OUR_FAULT, UNUSABLE
from grader.disk import reaching
from grader.errors import GraderError, TextError, UnusableSubmission, UsageError
from grader.model import Message
from grader.reports.columns import fit
from grader.texts import Texts, load_texts, system_language

MAX_LINE = 2000


def tidy(line: str) -> str:
    """A line as a terminal may show it, whatever names are in it."""
    return clean(line, MAX_LINE)


def open_streams() -> None:
    """Make the standard streams take whatever a report may hold."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            # Closed by the caller: what would be printed has nowhere to go, and that is all.
            setattr(sys, name, io.StringIO())
        else:
            # A terminal that cannot show a character gets an escape.
            stream.reconfigure(errors="backslashreplace")


def note(line: str) -> None:
    """A line on standard error: what happens meanwhile, and what was written."""
    print(tidy(line), file=sys.stderr, flush=True)


def write_all(pieces: Iterable[str], output: Path | None, texts: Texts) -> None:
    """Piece by piece, to a file if one is named, else to standard output."""
    if output is None:
        for piece in pieces:
            show(piece)
        return
    with (
        reaching(output, "file.unwritable"),
        open(output, "w", encoding="utf-8", errors="backslashreplace", newline="") as file,
    ):
        file.writelines(pieces)
    note(texts("written", path=output))


def write(text: str, output: Path | None, texts: Texts) -> None:
    """To a file if one is named, else to standard output."""
    write_all([text], output, texts)


def show(text: str) -> None:
    """To standard output."""
    with reaching("stdout", "file.unwritable"):
        sys.stdout.write(text)
        sys.stdout.flush()


def tell(*lines: str) -> None:
    """Lines on standard output, whatever names are in them."""
    show("".join(f"{tidy(line)}\n" for line in lines))


def attempt(act: Callable[[Texts], int], language: str | None, program: str) -> int:
    """The exit code of what `act` does in this language; where it fails, one sentence says why."""
    texts = load_texts("en")
    try:
        texts = load_texts(language or system_language())
        return act(texts)
    except (UnusableSubmission, UsageError) as error:
        code, message = UNUSABLE, error.message
    except GraderError as error:
        code, message = OUR_FAULT, error.message
    except Exception as error:
        # A fault of ours, and still one sentence: the file and the seed are enough to find it.
        said = {"type": type(error).__name__, "text": str(error)[:200]}
        code, message = OUR_FAULT, Message("error.grader", said)
    # Loaded again: a bank that is in use by now may bring the sentence.
    say(load_texts(texts.language), message, program)
    return code


def say(texts: Texts, message: Message, program: str) -> None:
    """A sentence on standard error."""
    try:
        said = texts.say(message)
    except TextError:
        said = f"{message.key} {dict(message.fields)}"
    line = f"{program}: {clean(said, MAX_LINE)}"
    print("\n".join(fit(line, sys.stderr)), file=sys.stderr)


def leave(code: int) -> NoReturn:
    """Flush and go at once: taking the interpreter down tidily costs time and changes nothing."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):
            stream.flush()
    os._exit(code)
