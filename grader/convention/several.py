"""Finds several mistakes made at once, where neither a right module nor one mistake fits.

A sequence of one token has nothing to weigh: scales, masks and most softmaxes do not show there.
What does show, on the way of the values, is taken first, and two more are looked for beside it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

from grader.convention.found import Match
from grader.convention.matching import show
from grader.convention.screen import Screen
from grader.convention.trials import Trials
from grader.layout import Layout
from grader.mistakes import Mistake, known_for, pairs_of
from grader.model import Contract

# How many layouts, the likeliest, are tried.
LAYOUTS = 2
# And how many mistakes that one token shows, in each.
FITTING = 2


def match_several(
    contract: Contract,
    proposals: Sequence[Layout],
    trials: Trials,
    *,
    told: bool = False,
) -> Match | None:
    """The first of the likeliest layouts, and the mistakes that give what was returned.

    Or only of those whose values are `told` by one token, as always where there is a residual.
    """
    if not trials.drawn:
        return None
    known = [m for m in known_for(contract) if m.is_structural or contract.causal]
    likeliest = [] if told or contract.residual else proposals[:LAYOUTS]
    for made, layout in _suspects(contract, proposals, likeliest, known, trials):
        is_shown = show(trials, layout, contract)
        for pair in pairs_of(known, made, contract.causal):
            if is_shown([*made, *pair]):
                return Match(layout, replace(contract, wide=layout.wide), True, (*made, *pair))
    return None


def match_plain(
    contracts: Sequence[Contract],
    proposals: Sequence[Layout],
    trials: Trials,
    *,
    causal: bool,
    told: bool = False,
) -> Match | None:
    """The same under each contract, causal ones if asked for; those with a residual at last."""
    own = sorted((c for c in contracts if c.causal <= causal), key=lambda c: c.residual)
    found = (match_several(contract, proposals, trials, told=told) for contract in own)
    return next((match for match in found if match), None)


def _suspects(
    contract: Contract,
    proposals: Sequence[Layout],
    layouts: Sequence[Layout],
    known: Sequence[Mistake],
    trials: Trials,
) -> Iterator[tuple[list[Mistake], Layout]]:
    """Each of `layouts` with nothing known yet, then with each mistake that one token shows.

    At last a few others whose values that token is made of.
    """
    yield from (([], layout) for layout in layouts)
    for layout in layouts:
        is_shown = show(Trials(trials.alone), layout, contract)
        if not is_shown([]):
            ways = [way for mistake in known for way in mistake.ways() if way.shows(hiding=False)]
            fitting = (([way], layout) for way in ways if is_shown([way]))
            yield from itertools.islice(fitting, FITTING)
    yield from (([], layout) for layout in _told(contract, proposals, layouts, trials))


def _told(
    contract: Contract, proposals: Sequence[Layout], tried: Sequence[Layout], trials: Trials
) -> Iterator[Layout]:
    """A few more that read the same roles in another order, of whose values one token is made."""
    others = (layout for layout in proposals if trials.alone and layout not in tried)
    alike = (layout for layout in others if _has_roles_of(proposals[0], layout))
    told = (layout for layout in alike if Screen(trials, layout, contract).has_values())
    yield from itertools.islice(told, LAYOUTS)


def _has_roles_of(first: Layout, other: Layout) -> bool:
    """True where the same projections serve as q, k and v: else one mistake looks like another."""
    roles = [
        {role: (place.weight, place.slot) for role, place in layout.places.items()}
        for layout in (first, other)
    ]
    return roles[0] == roles[1]
