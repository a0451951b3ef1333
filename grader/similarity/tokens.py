"""Source as tokens that stay the same under new names, comments, literals and layout.

Cut by one pattern and not by Python's own tokenizer: that one stops at the first thing it cannot
read, and cuts f-strings otherwise from Python 3.12 on. Nothing is parsed, imported or run.
"""

from __future__ import annotations

import builtins
import functools
import keyword
import re
import zlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

PATTERN = re.compile(
    r"""
      (?P<space>[ \t\f\r]+|\\\n|\#[^\n]*)
    | (?P<newline>\n)
    | (?P<string>[a-zA-Z]{0,2}(?:'''(?:[^\\]|\\.)*?'''|\"\"\"(?:[^\\]|\\.)*?\"\"\"
        |'(?:[^\\\n']|\\.)*'|"(?:[^\\\n"]|\\.)*"))
    | (?P<number>\.?\d(?:[eE][+-]|[\w.])*)
    | (?P<name>\w+)
    | (?P<operator>->|:=|\*\*=?|//=?|<<=?|>>=?|[-+*/%@&|^=!<>]=|.)
    """,
    re.VERBOSE | re.DOTALL,
)
OPENING, CLOSING = "([{", ")]}"
# What ends an annotation: of what is returned, and of an argument.
AFTER_TYPE = {0: ":", 1: ",="}
# What a renamed file cannot rename.
GIVEN = frozenset([*keyword.kwlist, *dir(builtins)])


class Piece(NamedTuple):
    """A token as it stands in the source."""

    kind: str
    text: str
    line: int


class Tokens(NamedTuple):
    """A number for each token, equal for equal ones, and the line that it stands in."""

    codes: tuple[int, ...]
    lines: tuple[int, ...]


def tokenize(source: str) -> Tokens:
    """The telling tokens of any text, Python or not: no imports, docstrings and idle commas."""
    kept = [piece for line in _lines(source) for piece in _telling(line)]
    own, receivers = _own_names(kept)
    codes: list[int] = []
    lines: list[int] = []
    for at, piece in enumerate(kept):
        if piece.text in CLOSING and codes and codes[-1] == _code(","):
            codes.pop()
            lines.pop()
        codes.append(_code(_plain(kept, at, own, receivers)))
        lines.append(piece.line)
    return Tokens(tuple(codes), tuple(lines))


def _lines(source: str) -> Iterator[list[Piece]]:
    """Logical lines: a newline between brackets ends none."""
    line, number, depth = list[Piece](), 1, 0
    for found in PATTERN.finditer(source):
        kind, text = str(found.lastgroup), found.group()
        if kind == "newline" and not depth:
            yield line
            line = []
        elif kind not in ("space", "newline"):
            depth = max(0, depth + (text in OPENING) - (text in CLOSING))
            # A bracket that is never closed must not swallow the file.
            if text in ("def", "class"):
                depth = 0
            line.append(Piece(kind, text, number))
        number += text.count("\n")
    yield line


def _telling(line: list[Piece]) -> list[Piece]:
    texts = [piece.text for piece in line]
    if texts[:1] in (["import"], ["from"]) or {piece.kind for piece in line} == {"string"}:
        return []
    return [*_untyped(line)] if texts[:1] == ["def"] or texts[:2] == ["async", "def"] else line


def _untyped(line: Sequence[Piece]) -> Iterator[Piece]:
    """The head of a function without annotations, which a copy may add or drop."""
    depth, typed = 0, -1
    for at, piece in enumerate(line):
        text = piece.text
        depth += (text in OPENING) - (text in CLOSING)
        if depth < typed or (depth == typed and text in AFTER_TYPE[depth]):
            typed = -1
        elif typed < 0 and (depth, text) in ((1, ":"), (0, "->")):
            typed = depth
        if typed < 0:
            yield piece
            if (depth, text) == (0, ":"):
                yield from line[at + 1 :]
                return


def _own_names(pieces: Sequence[Piece]) -> tuple[set[str], set[str]]:
    """Attributes that the file itself makes, and what its methods call `self`."""
    own, receivers = set(), {"self"}
    texts = [piece.text for piece in pieces]
    for at, text in enumerate(texts):
        if text == "def" and at + 1 < len(texts):
            own.add(texts[at + 1])
            receivers.update(texts[at + 3 : at + 4])
        elif text == "." and texts[at + 2 : at + 3] == ["="]:
            own.add(texts[at + 1])
        elif text == ":" and at and pieces[at - 1].kind == "name":
            # A field of a dataclass; of a dict or a slice it does no harm.
            own.add(texts[at - 1])
    return own, receivers


def _plain(pieces: Sequence[Piece], at: int, own: set[str], receivers: set[str]) -> str:
    """What a piece says whatever its author calls things: torch's names are no one's to change."""
    kind, text, _ = pieces[at]
    if kind in ("string", "number"):
        return kind
    if kind != "name":
        return text
    if at and pieces[at - 1].text == ".":
        theirs = at > 1 and pieces[at - 2].text in receivers
        return "name" if theirs or text in own else text
    return text if text in GIVEN else "name"


@functools.cache
def _code(text: str) -> int:
    return zlib.crc32(text.encode("utf-8", "replace"))
