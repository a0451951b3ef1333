"""Pieces of right answers, with what each known mistake would change in them, read from `pieces/`.

A piece is text with `$names`, of which several do the same job. What stands behind `#:` is the
shape of what the line makes, one axis after the other.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from grader.bank.schema import Reader, read_yaml
from grader.model import Contract

FOLDER = Path(__file__).resolve().parent
PARTS = ("code", "init", "wrap")
KEYS = ("name", "when", "layout", "helper", "also", "mistakes", "code", "init")
# Keys of the files that are no jobs: plain texts.
TABLES = ("ways", "comments")
SHAPE = re.compile(r"  #: (.+)$")
NAME = re.compile(r"\$(\w+)")
# What stands where an outer text takes in an inner one.
INNER = "@body"

Edits = Mapping[str, str]


@dataclass(frozen=True)
class Piece:
    """One way to do a job.

    `parts` are its texts: code, what the constructor needs for it, and what is wrapped around it.
    `shapes` has the axes by part and line, `mistakes` for each id what becomes of which text, None
    where it cannot be made. `layout` is how the heads lie (None: no matter), `when` what a
    contract must be like, `helper` the job of the method that it calls.
    """

    job: str
    parts: Mapping[str, str]
    shapes: Mapping[tuple[str, int], str] = field(default_factory=dict)
    mistakes: Mapping[str, Edits | None] = field(default_factory=dict)
    when: Mapping[str, Any] = field(default_factory=dict)
    layout: str | None = None
    helper: str | None = None

    def suits(self, contract: Contract, layout: str | None = None) -> bool:
        """True where it may be written under this contract, with heads that lie like this."""
        return suits(self.when, contract) and self.layout in (None, layout or self.layout)

    def wrapped(self, outer: Piece) -> Piece:
        """The same with another piece's code around it."""
        parts = {**self.parts, "wrap": outer.parts["code"]}
        around = {("wrap", at): axes for (_, at), axes in outer.shapes.items()}
        mistakes = {**self.mistakes, **outer.mistakes}
        return replace(self, parts=parts, shapes={**self.shapes, **around}, mistakes=mistakes)

    def edited(self, edits: Edits) -> Piece:
        """The same with texts replaced, each wherever it stands; those without a place are not."""
        parts = dict(self.parts)
        for old, new in edits.items():
            parts = {part: text.replace(old, new) for part, text in parts.items()}
        return replace(self, parts=parts)

    def names(self) -> set[str]:
        """The names that its code uses."""
        text = self.parts.get("code", "") + self.parts.get("wrap", "")
        return set(NAME.findall(text))


def suits(when: Mapping[str, Any], contract: Contract) -> bool:
    """True where a contract has so many inputs, and a mask of this kind."""
    facts = {"inputs": len(contract.inputs), "mask": contract.mask}
    return all(facts[key] == value for key, value in when.items())


@functools.cache
def read_pieces() -> Mapping[str, tuple[Piece, ...]]:
    """Every job's pieces; raises BankError for a key that means nothing."""
    return {
        job: tuple(_read_piece(reader, job, row) for row in rows)
        for job, (reader, rows) in _read_files().items()
        if job not in TABLES
    }


def read_table(name: str) -> Any:
    """One of `TABLES`."""
    return _read_files()[name][1]


@functools.cache
def _read_files() -> Mapping[str, tuple[Reader, Any]]:
    """What stands under each key of the files, with the reader of its file."""
    return {
        key: (Reader(path.name), rows)
        for path in sorted((FOLDER / "pieces").glob("*.yaml"))
        for key, rows in read_yaml(path.name, path.read_bytes()).items()
    }


def _read_piece(reader: Reader, job: str, row: Any) -> Piece:
    row = reader.mapping(row, job, KEYS)
    parts: dict[str, str] = {}
    shapes: dict[tuple[str, int], str] = {}
    for part in PARTS:
        if part in row:
            lines = row[part].rstrip("\n").split("\n")
            marks = ((at, SHAPE.search(line)) for at, line in enumerate(lines))
            shapes |= {(part, at): mark[1] for at, mark in marks if mark}
            parts[part] = "\n".join(SHAPE.sub("", line) for line in lines)
    mistakes = {**row.get("also", {}), **row.get("mistakes", {})}
    when, layout, helper = row.get("when", {}), row.get("layout"), row.get("helper")
    return Piece(job, parts, shapes, mistakes, when, layout, helper)
