"""Makes text from a candidate's process safe to keep: done once, where it comes in.

What is left may still mean something to a format (a "<", a leading "="); each writer escapes for
its own.
"""

from __future__ import annotations

import unicodedata

# Reordering and invisible characters: they can make a line read as what it is not.
HIDDEN = {"Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def clean(text: object, limit: int, keep_lines: bool = False) -> str:
    """At most `limit` characters; controls, invisible and broken ones as their codes."""
    whole = str(text)
    if len(whole) <= limit and whole.isprintable():
        return whole
    kept = "".join(_show(c, keep_lines) for c in whole[:limit])
    return kept + "…" if len(whole) > limit else kept


def _show(character: str, keep_lines: bool) -> str:
    if character.isprintable() or (keep_lines and character in "\n\t"):
        return character
    if character in "\n\r\t":
        return " "
    code = ord(character)
    if unicodedata.category(character) == "Cc":
        return f"\\x{code:02x}"
    if unicodedata.category(character) in HIDDEN:
        return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
    return " "
