"""Finds several mistakes made at once, where neither a right module nor one mistake fits.

A sequence of one token has nothing to weigh: scales, masks and most softmaxes do not show there.
What does show, on the way of the values, is taken first, and two more are looked for beside it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from grader.convention.found import Match
from grader.convention.matching import show
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
) -> Match | None:
    """The first of the likeliest layouts, and the mistakes that give what was returned."""
    if not trials.drawn:
        return None
    known = [m for m in known_for(contract) if m.is_structural or contract.causal]
    for made, layout in _suspects(contract, proposals[:LAYOUTS], known, trials):
        is_shown = show(trials, layout, contract)
        for pair in pairs_of(known, made, contract.causal):
            if is_shown([*made, *pair]):
                return Match(layout, layout.settle(contract), True, (*made, *pair))
    return None


def match_plain(
    contracts: Sequence[Contract],
    proposals: Sequence[Layout],
    trials: Trials,
    *,
    causal: bool,
) -> Match | None:
    """The same under each contract without a residual, and causal ones if asked for."""
    own = [c for c in contracts if not c.residual and c.causal <= causal]
    found = (match_several(contract, proposals, trials) for contract in own)
    return next((match for match in found if match), None)


def _suspects(
    contract: Contract,
    layouts: Sequence[Layout],
    known: Sequence[Mistake],
    trials: Trials,
) -> Iterator[tuple[list[Mistake], Layout]]:
    """Each layout with nothing known yet, then with each mistake that one token shows."""
    yield from (([], layout) for layout in layouts)
    for layout in layouts:
        is_shown = show(Trials(trials.alone), layout, contract)
        if not is_shown([]):
            ways = [way for mistake in known for way in mistake.ways() if way.shows(hiding=False)]
            fitting = (([way], layout) for way in ways if is_shown([way]))
            yield from itertools.islice(fitting, FITTING)
