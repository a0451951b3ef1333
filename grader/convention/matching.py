"""Finds the layout of a module's parameters by trying proposals against what it returned."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Sequence

from grader.convention.found import Match
from grader.convention.screen import Screen
from grader.convention.told import OF_VALUES, find_told
from grader.convention.trials import Posed, Trials
from grader.layout import TORCH_LINEARS, Layout, named_layout
from grader.mistakes import TURNED_ALIKE, Mistake, known_for, known_of
from grader.model import Contract, Parameter
from grader.rotary import find_turn

LIKELIEST = 24
# How many of them are tried with every way to make a mistake.
CERTAIN = 4
# With queries and keys exchanged this is the same function as a softmax over the queries.
RELABELLED = ("weights-transposed",)


def show(trials: Trials, layout: Layout, contract: Contract) -> Callable[[Sequence[Mistake]], bool]:
    """Whether every trial, read so, shows these mistakes; a second one is read where one does."""
    if not trials.drawn or (layout.wide and "Wo" not in layout.places):
        return lambda mistakes: False
    screen = Screen(trials, layout, contract) if trials.alone else None
    posed: list[Posed] = []

    def does(mistakes: Sequence[Mistake]) -> bool:
        if screen is not None and not screen.passes(mistakes):
            return False
        for at, trial in enumerate(trials.drawn):
            if at == len(posed):
                posed.append(trial.pose(layout, contract))
            if not posed[at].shows(mistakes):
                return False
        return True

    return does


def match_right(
    contracts: Sequence[Contract], proposals: Sequence[Layout], trials: Trials
) -> Match | None:
    """The first layout and contract under which the module is right on every trial."""
    if not trials.drawn:
        return None
    hopeless = set()
    for layout in proposals:
        if layout.of_values in hopeless:
            continue
        screens = [Screen(trials, layout, c) for c in contracts] if trials.alone else []
        if screens and not any(screen.may_be_right() for screen in screens):
            hopeless.add(layout.of_values)
            continue
        for contract in contracts:
            if show(trials, layout, contract)(()):
                return Match(layout, layout.settle(contract), True)
    return None


def match_wrong(
    contracts: Sequence[Contract],
    proposals: Sequence[Layout],
    trials: Trials,
    besides: Sequence[str] = (),
) -> Match | None:
    """The same with one known mistake made, among the likeliest layouts; none of `besides`.

    Where one token tells whose values it is made of, no others are tried.
    """
    likely = proposals[:LIKELIEST]
    told = {contract: find_told(contract, likely, trials, OF_VALUES) for contract in contracts}
    for (rank, layout), contract in itertools.product(enumerate(likely), contracts):
        if any(told.values()) and not any(layout is one for one in told[contract]):
            continue
        named = rank == 0 and layout.places["Wq"].fused == 1
        shown = _shown(contract, rank < CERTAIN, named, layout.is_fused)
        suspects = (mistake for mistake in shown if mistake.id not in besides)
        match = _match_one(suspects, layout, contract, trials)
        if match:
            return match
    return None


def match_turned(
    contracts: Sequence[Contract],
    proposals: Sequence[Layout],
    trials: Trials,
    alike: bool = True,
) -> Match | None:
    """The same with positions gone wrong, where a contract has them.

    Unless those count that turn queries and keys `alike`: a table that holds other things than a
    file expects looks like one.
    """
    for layout, contract in itertools.product(proposals, contracts):
        turn = find_turn(contract.positions)
        known = known_of(turn) if turn else ()
        own = (one for one in known if alike or one.id not in TURNED_ALIKE)
        suspects = (way for one in own for way in one.ways())
        match = _match_one(suspects, layout, contract, trials)
        if match:
            return match
    return None


def _match_one(
    suspects: Iterable[Mistake], layout: Layout, contract: Contract, trials: Trials
) -> Match | None:
    is_shown = show(trials, layout, contract)
    made = next((mistake for mistake in suspects if is_shown([mistake])), None)
    return Match(layout, layout.settle(contract), True, (made,)) if made else None


def match_names(
    contract: Contract, proposals: Sequence[Layout], parameters: Sequence[Parameter]
) -> Match:
    """For want of proof, what the names say: only of nn.Linear, used as it is."""
    linear = all(parameter.owner in TORCH_LINEARS for parameter in parameters)
    return Match(named_layout(proposals) if linear else None, contract)


@functools.lru_cache(maxsize=64)
def _shown(contract: Contract, likely: bool, named: bool, fused: bool) -> tuple[Mistake, ...]:
    """The mistakes that show where no mask is given, by each way to make them.

    Only the likeliest layouts are tried with all of them: most are the same function of another
    layout, or need not be looked for where the parameters have been misread.
    """
    shown = (
        mistake
        for mistake in known_for(contract)
        if (named or mistake.id not in RELABELLED) and (mistake.is_structural or contract.causal)
        if fused or not mistake.fused
    )
    return tuple(way for one in shown for way in (one.plain_ways if likely else [one]))
