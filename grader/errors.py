"""Everything the grader itself raises.

    GraderError
    ├── UnusableSubmission   the file cannot be graded (exit code 2)
    ├── UsageError           the command line asks for something that does not exist (exit code 2)
    ├── BankError            a bank file is wrong: file, case, key, allowed keys (exit code 3)
    ├── TextError            a sentence or placeholder is missing (exit code 3)
    └── WorkerError          the worker's side of the line
        ├── LateError        no answer before the deadline
        ├── ClosedError      the worker ended and its line with it
        ├── ProtocolError    a frame that does not parse: a claim not worth reading
        └── ZygoteError      our own process failed (exit code 3)

Every one carries a Message, a text key with its fields, so that the sentence a person reads
is written in their language by the one who prints it.
"""

from __future__ import annotations

from typing import Any

from grader.model import Message


class GraderError(Exception):
    """The root: an error that has a sentence."""

    def __init__(self, key: str, /, **fields: Any) -> None:
        self.message = Message(key, fields)
        super().__init__(f"{key} {fields}")


class UnusableSubmission(GraderError):
    """The file cannot be graded: missing, not a plain file, too big, not text."""


class UsageError(GraderError):
    """The command line names something that does not exist."""


class BankError(GraderError):
    """A bank file has an unknown key, a duplicate id or points that do not add up."""


class TextError(GraderError):
    """A sentence is missing from a language file, or a placeholder has no value."""


class WorkerError(GraderError):
    """Something went wrong at the worker's end of the line."""


class LateError(WorkerError):
    """No answer before the deadline."""


class ClosedError(WorkerError):
    """The worker ended, and its line with it."""


class ProtocolError(WorkerError):
    """A frame broke the rules of worker/protocol.py."""


class ZygoteError(WorkerError):
    """The process that forks workers could not start, or stopped answering."""
