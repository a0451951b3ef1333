"""What a reader wants to see beyond the report itself."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class View:
    """`hints`: how much is given away, 0 (nothing) to 3 (the fix); `walk`: shapes by line."""

    hints: int = 1
    walk: bool = False


PLAIN = View()
