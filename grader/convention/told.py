"""Which readings of a file's values what came back for one token tells to be right."""

from __future__ import annotations

from collections.abc import Sequence

from grader.convention.screen import Screen
from grader.convention.trials import Trials
from grader.convention.way import Way
from grader.layout import Layout
from grader.model import Contract


def find_told(contract: Contract, proposals: Sequence[Layout], trials: Trials) -> list[Layout]:
    """Those of whose values one token is made; they read the likeliest's roles in some order."""
    if not (trials.alone and trials.drawn):
        return []
    alike = (layout for layout in proposals if _has_roles_of(proposals[0], layout))
    return [layout for layout in alike if Screen(trials, layout, contract).has_values()]


def is_told(way: Way, positions: Sequence[str]) -> bool:
    """True where one token is made of values read in this way, so that no other need be tried."""
    contracts = way.contracts(positions)
    return any(find_told(contract, way.proposals, way.trials) for contract in contracts)


def _has_roles_of(first: Layout, other: Layout) -> bool:
    """True where the same projections serve as q, k and v: else one mistake looks like another."""
    roles = [
        {role: (place.weight, place.slot) for role, place in layout.places.items()}
        for layout in (first, other)
    ]
    return roles[0] == roles[1]
