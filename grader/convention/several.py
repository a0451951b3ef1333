"""Finds several mistakes made at once, where neither a right module nor one mistake fits.

A sequence of one token has nothing to weigh: scales, masks and most softmaxes do not show there.
What does show, on the way of the values, is taken first, and two more are looked for beside it.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Sequence

from grader.convention.found import Match
from grader.convention.matching import show
from grader.convention.told import find_told
from grader.convention.trials import Trials
from grader.layout import Layout
from grader.mistakes import Mistake, are_compatible, known_for, pairs_of
from grader.model import Contract

# How many layouts, the likeliest, are tried.
LAYOUTS = 2
# And how many mistakes that one token shows, in each.
FITTING = 2


Suspects = Iterable[tuple[list[Mistake], Layout]]


def match_several(
    contract: Contract,
    proposals: Sequence[Layout],
    trials: Trials,
    *,
    anyhow: bool = False,
) -> Match | None:
    """The first of the likeliest layouts, and the mistakes that give what was returned.

    Then that of whose values one token is made, if it is made of none of those, or `anyhow`: with
    the features of all heads in another order, and a weight of 1 for each, it is made of them too.
    """
    if not trials.drawn:
        return None
    likeliest = proposals[:LAYOUTS]
    told = find_told(contract, proposals, trials)[: LAYOUTS + 1]
    others = [layout for layout in told if layout not in likeliest]
    further = others[:1] if anyhow or len(others) == len(told) else []
    suspects = _suspects(contract, likeliest, trials)
    alone: Suspects = (([], layout) for layout in further)
    return _match(contract, itertools.chain(suspects, alone), trials)


def match_plain(
    contracts: Sequence[Contract],
    proposals: Sequence[Layout],
    trials: Trials,
    *,
    causal: bool,
) -> Match | None:
    """The same under each contract without a residual, and causal ones if asked for.

    Under those with one, and in `match_told` under all, only of layouts that are told: all but a
    few are ruled out by one token, and the others take longest.
    """
    own = [c for c in contracts if not c.residual and c.causal <= causal]
    found = (match_several(contract, proposals, trials, anyhow=True) for contract in own)
    match = next((match for match in found if match), None)
    around = [c for c in contracts if c.residual]
    return match or match_told(around, proposals, trials, causal=causal)


def match_told(
    contracts: Sequence[Contract],
    proposals: Sequence[Layout],
    trials: Trials,
    *,
    causal: bool,
) -> Match | None:
    """Several mistakes in layouts that are told by one token."""
    for contract in contracts:
        if contract.causal <= causal:
            told = find_told(contract, proposals, trials)[: LAYOUTS + 1]
            match = _match(contract, (([], layout) for layout in told), trials)
            if match:
                return match
    return None


def _match(contract: Contract, suspects: Suspects, trials: Trials) -> Match | None:
    for made, layout in suspects:
        is_shown = show(trials, layout, contract)
        for pair in _pairs(contract, layout.is_fused):
            beside = all(are_compatible(made, one) for one in pair) if made else True
            if beside and is_shown([*made, *pair]):
                # One of the two may do nothing here, as where it is about a mask that is not given.
                fewer = ([*made, one] for one in pair)
                needed = next((few for few in fewer if is_shown(few)), [*made, *pair])
                return Match(layout, layout.settle(contract), True, tuple(needed))
    return None


def _known(contract: Contract) -> Sequence[Mistake]:
    return [m for m in known_for(contract) if m.is_structural or contract.causal]


# There are ten thousand of them, the same for each layout and each file like it.
@functools.lru_cache(maxsize=8)
def _pairs(contract: Contract, fused: bool) -> Sequence[list[Mistake]]:
    known = [mistake for mistake in _known(contract) if fused or not mistake.fused]
    return list(pairs_of(known, hiding=contract.causal))


def _suspects(contract: Contract, layouts: Sequence[Layout], trials: Trials) -> Suspects:
    """Each layout with nothing known yet, then with each mistake that one token shows."""
    yield from (([], layout) for layout in layouts)
    known = _known(contract)
    for layout in layouts:
        is_shown = show(Trials(trials.alone), layout, contract)
        if not is_shown([]):
            ways = [way for mistake in known for way in mistake.ways() if way.shows(hiding=False)]
            fitting = (([way], layout) for way in ways if is_shown([way]))
            yield from itertools.islice(fitting, FITTING)
