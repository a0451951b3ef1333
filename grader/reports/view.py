"""What a reader wants to see beyond the report itself."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class View:
    """`hints`: how much is given away, 0 (nothing) to 3 (the fix); `walk`: shapes by line.

    `answers`: with each follow-up question the points of a good answer, and the trap.
    """

    hints: int = 1
    walk: bool = False
    answers: bool = False


PLAIN = View()
