"""Text by terminal columns, where an East Asian character takes two."""

from __future__ import annotations

import functools
import re
from unicodedata import east_asian_width

WIDTH = 96
# A run of narrow characters is one word, wide ones may be parted anywhere; an opening bracket
# stays with what follows and a stop with what comes before. An index or shape is never parted.
WIDE, OPENING, STOPS = r"\u1100-\uffdc", "（《“‘", "、。，；：？！）》”’…"
NARROW = r" +|\[[^][]{1,40}\]|[^ [%s]+|\["
PLAIN = re.compile(NARROW % "")


@functools.cache
def _pieces() -> re.Pattern[str]:
    # Only where it is needed: sets of so many characters take long to compile.
    return re.compile(f" +|[{OPENING}]*(?:[{WIDE}]|{NARROW % WIDE})[{STOPS}]*")


def columns(text: str) -> int:
    """How many columns a text takes."""
    if text.isascii():
        return len(text)
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)


def pad(text: str, width: int) -> str:
    """Spaces added on the right up to `width` columns."""
    return text + " " * (width - columns(text))


def cut(text: str, width: int) -> str:
    """As much of the beginning of a text as `width` columns take."""
    while columns(text) > width:
        text = text[:-1]
    return text


def wrap(text: str, first: str = "  ", rest: str = "  ") -> list[str]:
    """Lines of at most WIDTH columns; a word longer than that stands alone and is not cut."""
    lines, line = [], first
    for piece in (PLAIN if text.isascii() else _pieces()).findall(text):
        if columns(line) + columns(piece) > WIDTH and line.strip():
            lines.append(line.rstrip())
            line = rest
        if piece.strip() or line.strip():
            line += piece
    return [*lines, line.rstrip()]
