"""Which mistakes of the catalogue can be made under a contract, and by which steps."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from grader.mistakes.catalogue import ENTRIES, SCALING
from grader.mistakes.mistake import Mistake
from grader.mistakes.variants import turning
from grader.model import Contract
from grader.rotary import PAIRINGS, Turn, find_turn

TURNED_ALIKE = ("rotary-mispaired", "rotary-no-rotation")
TURNED = ("rotary-on-values", "rotary-uneven", *TURNED_ALIKE)


@functools.lru_cache(maxsize=64)
def known_of(turn: Turn) -> tuple[Mistake, ...]:
    """What goes wrong with rotary positions of this kind, where a contract has them."""
    return tuple(
        Mistake(id_, SCALING, first, others=tuple(others))
        for id_ in TURNED
        for first, *others in [turning.ways(id_, turn)]
    )


# No exercise has positions.
OF_EXERCISES = tuple(mistake.id for mistake in ENTRIES)
CATALOGUE: dict[str, Mistake] = {
    mistake.id: mistake for mistake in (*ENTRIES, *known_of(Turn(next(iter(PAIRINGS)))))
}


@functools.lru_cache(maxsize=256)
def known_for(contract: Contract) -> tuple[Mistake, ...]:
    """The mistakes that can be made under this contract."""
    turn = find_turn(contract.positions)
    every = ENTRIES if turn is None else (*ENTRIES, *known_of(turn))
    return tuple(mistake for mistake in every if mistake.can_be_made(contract))


def ways_of(mistake: str, contract: Contract) -> Sequence[Mistake]:
    """The ways to make the mistake of this name, if it can be under this contract, as it is."""
    own = (known for known in known_for(contract) if known.id == mistake)
    return next(own, CATALOGUE[mistake]).ways()
