"""What a known mistake is, and how several are made at once."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from grader.definition import CORRECT, Steps
from grader.model import Contract

UNDER_MASKS = {"hide", "after_softmax", "visible"}


@dataclass(frozen=True)
class Mistake:
    """A known fault: the steps of the definition that it replaces, by name.

    `causal` mistakes make sense only where the module builds the causal mask itself, and some
    only with so many `inputs`, with as many keys as queries (`square`), or where masks may differ
    between heads. `others` are further steps by which the same fault is made, with other numbers:
    what a module does to the rows that its wrong mask leaves empty, say.
    """

    id: str
    areas: tuple[str, ...]
    steps: Mapping[str, Any]
    causal: bool = False
    inputs: int = 1
    square: bool = False
    per_head: bool = False
    others: tuple[Mapping[str, Any], ...] = ()

    @property
    def is_structural(self) -> bool:
        """True when it shows without any mask."""
        return not set(self.steps) <= UNDER_MASKS

    def shows(self, hiding: bool) -> bool:
        """True for a way that differs from the others without empty rows."""
        return "after_softmax" not in self.steps or (hiding and "softmax" in self.steps)

    def ways(self) -> Iterator[Mistake]:
        """The same mistake by each of the steps that make it."""
        yield self
        for steps in self.others:
            yield replace(self, steps=steps)

    def can_be_made(self, contract: Contract) -> bool:
        """Under this contract; what it asks for itself is no mistake."""
        asked = self.id == "residual-inside" and contract.residual
        several = len(contract.inputs) > 1 and not contract.one_length
        fits = (contract.causal or not self.causal) and self.inputs <= len(contract.inputs)
        if asked or (self.square and several):
            return False
        return fits and (contract.mask == "attention" or not self.per_head)


def combine(mistakes: Sequence[Mistake], right: Steps = CORRECT) -> Steps:
    """The right steps with every one of these mistakes made; they replace different ones."""
    steps = right
    for mistake in mistakes:
        steps = replace(steps, **mistake.steps)
    return steps


def are_compatible(mistakes: Sequence[Mistake], further: Mistake) -> bool:
    """True when `further` replaces no step that one of `mistakes` has replaced.

    What a wrong softmax makes of a mask looks like many things, so no mask mistake is added to it.
    """
    taken = {name for mistake in mistakes for name in mistake.steps}
    if "softmax" in taken and not further.is_structural:
        return False
    return not taken & set(further.steps)


def pairs_of(
    known: Iterable[Mistake], made: Sequence[Mistake] = (), hiding: bool = False
) -> Iterator[list[Mistake]]:
    """Every two that can be made beside those `made`, in each way that shows.

    What is done to weights that a mask hides shows only where something is `hiding`; and what is
    done to empty rows, never.
    """
    ways = [way for one in known for way in one.ways() if way == one or way.shows(hiding)]
    open_ways = [way for way in ways if are_compatible(made, way)]
    for one, other in itertools.combinations(open_ways, 2):
        if one.id != other.id and are_compatible([one], other):
            yield [one, other]
