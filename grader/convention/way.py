"""One way of building and calling a file, with what came of trying it."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

from grader.calling import CallPlan
from grader.convention.trials import Trials, lengths
from grader.layout import Layout, propose
from grader.model import Contract, Parameter
from grader.rotary import find_turn


@dataclass(frozen=True)
class Way:
    """One way of building and calling that returned something of the right shape."""

    plan: CallPlan
    contract: Contract
    parameters: tuple[Parameter, ...]
    proposals: tuple[Layout, ...]
    trials: Trials

    def plainest(self, count: int) -> Way:
        """The same with its likeliest proposals alone."""
        return replace(self, proposals=self.proposals[:count])

    def contracts(self, positions: Sequence[str] = ("",)) -> list[Contract]:
        """What a file may do by itself, plainest first."""
        flags = itertools.product(positions, (False, True), (False, True))
        plain = ((replace(self.contract, residual=r, causal=c), p) for p, r, c in flags)
        heads = {p: turn.heads for p in positions if (turn := find_turn(p))}
        # What is turned elsewhere is turned in pairs, too.
        least = 2 if self.plan.has_tables else 1
        return [replace(one, positions=p, head_multiple=heads.get(p, least)) for one, p in plain]


def propose_layouts(parameters: tuple[Parameter, ...], contract: Contract) -> tuple[Layout, ...]:
    """Layouts that fit these parameters, with heads of the usual size first and then wide ones."""
    sizes = lengths(contract)
    return _propose(parameters, sizes.d_model, sizes.num_heads)


# A file is called in one way after another, and its parameters stay the same.
@functools.lru_cache(maxsize=16)
def _propose(parameters: tuple[Parameter, ...], d_model: int, num_heads: int) -> tuple[Layout, ...]:
    fits = (propose(parameters, d_model, num_heads, wide) for wide in (False, True))
    return tuple(itertools.chain.from_iterable(fits))
