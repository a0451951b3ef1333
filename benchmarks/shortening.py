"""Takes single lines out of a source: what somebody tries who does not understand it."""

from __future__ import annotations

import ast
from collections.abc import Iterator


def shortened(source: str) -> Iterator[tuple[int, str]]:
    """The source without each of its lines in turn, where that is still Python."""
    lines = source.splitlines(keepends=True)
    for at, line in enumerate(lines):
        rest = "".join(lines[:at] + lines[at + 1 :])
        try:
            ast.parse(rest)
        except SyntaxError:
            continue
        if line.strip():
            yield at + 1, rest


def mending_lines(source: str, answer: str) -> list[int]:
    """The lines without which the source reads as the answer does."""
    right = ast.dump(ast.parse(answer))
    return [at for at, rest in shortened(source) if ast.dump(ast.parse(rest)) == right]
