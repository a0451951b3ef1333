"""Which readings of a file's values what came back for one token tells to be right."""

from __future__ import annotations

from collections.abc import Sequence

from grader.convention.screen import Screen
from grader.convention.trials import Trials
from grader.convention.way import Way
from grader.layout import Layout
from grader.model import Contract

ROLES = ("Wq", "Wk", "Wv", "Wo")
OF_VALUES = ROLES[2:]


def find_told(
    contract: Contract,
    proposals: Sequence[Layout],
    trials: Trials,
    roles: Sequence[str] = ROLES,
) -> list[Layout]:
    """Those of whose values one token is made.

    The same projections as in the likeliest have these roles: else one mistake looks like another.
    """
    if not (trials.alone and trials.drawn):
        return []
    alike = (layout for layout in proposals if _is_alike(proposals[0], layout, roles))
    return [layout for layout in alike if Screen(trials, layout, contract).has_values()]


def is_told(way: Way, positions: Sequence[str]) -> bool:
    """True where one token is made of values read in this way, so that no other need be tried."""
    contracts = way.contracts(positions)
    return any(find_told(contract, way.proposals, way.trials) for contract in contracts)


def _is_alike(first: Layout, other: Layout, roles: Sequence[str]) -> bool:
    places = [[layout.places.get(role) for role in roles] for layout in (first, other)]
    read = [[place and (place.weight, place.slot) for place in some] for some in places]
    return read[0] == read[1]
