"""Text by terminal columns, where an East Asian character takes two."""

from __future__ import annotations

import functools
import os
import re
import sys
from typing import IO
from unicodedata import east_asian_width

# The widest that a line gets, and the width where nobody sees it break.
WIDTH = 96
# A run of narrow characters is one word, wide ones may be parted anywhere; an opening bracket
# stays with what follows and a stop with what comes before. An index or shape is never parted,
# nor from a stop that follows.
WIDE, OPENING, STOPS = r"\u1100-\uffdc", "（《“‘", "、。，；：？！）》”’…"
NARROW = r" +|\[[^][]{1,40}\][^ [%s]*|[^ [%s]+|\["
PLAIN = re.compile(NARROW % ("", ""))


@functools.cache
def _pieces() -> re.Pattern[str]:
    # Only where it is needed: sets of so many characters take long to compile.
    return re.compile(f" +|[{OPENING}]*(?:[{WIDE}]|{NARROW % (WIDE, WIDE)})[{STOPS}]*")


def columns(text: str) -> int:
    """How many columns a text takes."""
    if text.isascii():
        return len(text)
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)


def pad(text: str, width: int) -> str:
    """Spaces added on the right up to `width` columns."""
    return text + " " * (width - columns(text))


def room() -> int:
    """Columns that a line may take: those of the terminal as it is now, at most WIDTH."""
    return min(WIDTH, terminal_width(sys.stdout) or WIDTH)


def terminal_width(stream: IO[str] | None) -> int:
    """Columns of the terminal behind a stream, 0 where there is none or it does not say."""
    try:
        return os.get_terminal_size(stream.fileno()).columns if stream else 0
    except (AttributeError, OSError, ValueError):
        return 0


def fit(line: str, stream: IO[str] | None) -> list[str]:
    """One line as it is, in pieces only where the terminal behind the stream would break it."""
    width = terminal_width(stream)
    return wrap(line, "", "  ") if width and columns(line) > width else [line]


def cut(text: str, width: int) -> str:
    """As much of the beginning of a text as `width` columns take."""
    while columns(text) > width:
        text = text[:-1]
    return text


def wrap(text: str, first: str = "  ", rest: str = "  ") -> list[str]:
    """Lines that fit in the room there is; a word longer than that stands alone and is not cut."""
    most, lines, line = room(), [], first
    for piece in (PLAIN if text.isascii() else _pieces()).findall(text):
        if columns(line) + columns(piece) > most and line.strip():
            lines.append(line.rstrip())
            line = rest
        if piece.strip() or line.strip():
            line += piece
    return [*lines, line.rstrip()]
