"""Which mistakes can be planted in a style, and which of them beside one another."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from grader.drill.styles import Edits, Style, fits, write
from grader.mistakes import CATALOGUE, are_compatible
from grader.model import Contract

MOST = 4
# How often one, two, three or four are planted.
COUNTS = (3, 4, 3, 2)
# Under a wrong mask it cannot be told what a wrong softmax, or a row that sees nothing, would do.
MASKING = {"visibility", "normalise"}
# Of a file with two lengths it is a call that fails, and so another mistake.
ONE_LENGTH = {"weights-transposed"}


@dataclass(frozen=True)
class Choice:
    """A mistake, the piece it can be made in, and how."""

    mistake: str
    job: str
    edits: Edits

    def agrees(self, other: Choice) -> bool:
        """True where neither hides the other: other pieces, other steps of the definition."""
        jobs = {self.job, other.job}
        if self.mistake == other.mistake or len(jobs) == 1 or jobs <= MASKING:
            return False
        known = [CATALOGUE[c.mistake] for c in (self, other) if c.mistake in CATALOGUE]
        return len(known) < 2 or are_compatible(known[:1], known[1])


def choices(style: Style) -> Iterator[Choice]:
    """Every mistake that can be made in this style, once for each of its pieces."""
    right = write(style)
    for job, piece in style.pieces.items():
        for mistake, edits in piece.mistakes.items():
            if edits and can_be_made(mistake, style.contract):
                lines = write(style.edited(job, edits))
                if lines != right and fits(lines):
                    yield Choice(mistake, job, edits)


def can_be_made(mistake: str, contract: Contract) -> bool:
    """True where it is this mistake, and a mistake at all, under the contract."""
    known = CATALOGUE.get(mistake)
    if mistake in ONE_LENGTH and len(contract.inputs) > 1:
        return False
    return known is None or known.can_be_made(contract)


def draw_choices(order: random.Random, style: Style, count: int | None) -> tuple[Choice, ...]:
    """So many that agree with one another, or as many as do."""
    wanted = count or order.choices(range(1, MOST + 1), COUNTS)[0]
    offered = list(choices(style))
    order.shuffle(offered)
    drawn: list[Choice] = []
    for choice in offered:
        if len(drawn) < wanted and all(choice.agrees(other) for other in drawn):
            drawn.append(choice)
    return tuple(drawn)


def apply(style: Style, drawn: Sequence[Choice]) -> Style:
    """The style with these mistakes made in it."""
    for choice in drawn:
        style = style.edited(choice.job, choice.edits)
    return style
