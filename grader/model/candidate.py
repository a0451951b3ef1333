"""What is handed in, and what a module turns out to hold."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Submission:
    """One candidate's file, read once and never opened again."""

    path: str
    source: str
    sha256: str


@dataclass(frozen=True)
class Parameter:
    """A tensor of the candidate's module. `owner` is the class that holds it, in full."""

    name: str
    shape: tuple[int, ...]
    owner: str
    registered: bool


@dataclass(frozen=True)
class Argument:
    """One argument of a candidate's function, as its signature shows it.

    `default` and `annotation` are their source-like texts, cut short, "" for none.
    """

    name: str
    kind: str
    required: bool
    default: str = ""
    annotation: str = ""


@dataclass(frozen=True)
class CandidateClass:
    """A class found in a submission.

    `used_by` names other classes of the file that use it, `reads` the file's own numbers that its
    functions look up.
    """

    name: str
    line: int
    is_module: bool
    has_forward: bool
    constructor: tuple[Argument, ...]
    forward: tuple[Argument, ...]
    used_by: tuple[str, ...]
    reads: tuple[str, ...] = ()
