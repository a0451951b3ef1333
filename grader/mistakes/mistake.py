"""What a known mistake is, and how several are made at once."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from grader.definition import CORRECT, Steps
from grader.mistakes.of_values import ALONE, SEVERAL, changes_values
from grader.model import Array, Contract

# Scores [b, h, 1, 1], all different.
ONE_TOKEN = np.array([0.3, -0.7, 1.1, 0.6, -0.2, 1.9]).reshape(2, 3, 1, 1)
# How far from 1 a weight is still the same, and how far it is another for certain.
NEARLY, PLAINLY = 1e-8, 0.2
# Scores [b, h, q, k] of as many keys as queries, and of more.
SEVERAL_TOKENS = np.random.Generator(np.random.Philox(1)).normal(size=(2, 3, 5, 5))
MORE_KEYS = SEVERAL_TOKENS[:, :, :4]
# What the weights of a row add up to depends on.
WEIGHING = {"lean", "hide", "visible", "softmax", "after_softmax", "mix"}
UNDER_MASKS = {"hide", "after_softmax", "visible"}


@dataclass(frozen=True)
class Mistake:
    """A known fault: the steps of the definition that it replaces, by name.

    `causal` mistakes make sense only where the module builds the causal mask itself, and some
    only with so many `inputs`, with as many keys as queries (`square`), or where masks may differ
    between heads. `others` are further steps by which the same fault is made, with other numbers:
    what a module does to the rows that its wrong mask leaves empty, say. Of many ways the first few
    are `usual`: beside another mistake only those are looked for. Some can be made only where one
    layer is `fused` of several projections.
    """

    id: str
    areas: tuple[str, ...]
    steps: Mapping[str, Any]
    causal: bool = False
    inputs: int = 1
    square: bool = False
    per_head: bool = False
    others: tuple[Mapping[str, Any], ...] = ()
    usual: int | None = None
    fused: bool = False

    @property
    def is_structural(self) -> bool:
        """True when it shows without any mask."""
        return not set(self.steps) <= UNDER_MASKS

    @functools.cached_property
    def value_steps(self) -> tuple[tuple[str, Any], ...]:
        """Its steps by which values are made, merged and projected in another way."""
        return tuple(sorted(item for item in self.steps.items() if changes_values(*item, SEVERAL)))

    @functools.cached_property
    def alone_steps(self) -> tuple[tuple[str, Any], ...]:
        """Those of them that show where there is one token."""
        return tuple(item for item in self.value_steps if changes_values(*item, ALONE))

    @functools.cached_property
    def keeps_pattern(self) -> bool:
        """True where weights are none for what is hidden, and only for that."""
        return not {"lean", "hide", "softmax", "mix"} & set(self.steps)

    @functools.cached_property
    def leaves_one(self) -> bool | None:
        """True where the only token there is still gets a weight of 1.

        None if it may be hidden, or if the weight is too near 1 to be told from it.
        """
        if {"hide", "visible"} & set(self.steps):
            return None
        off = self._off_one(ONE_TOKEN)
        return None if NEARLY < off < PLAINLY else bool(off <= NEARLY)

    @functools.cached_property
    def weighs(self) -> bool:
        """True where it is about what the weights of a row add up to."""
        return bool(WEIGHING & set(self.steps))

    @functools.cached_property
    def breaks_sums(self) -> bool:
        """True where the weights of rows that see something do not add up to 1, by far."""
        return min(map(self._off_one, (SEVERAL_TOKENS, MORE_KEYS))) > PLAINLY

    def _off_one(self, scores: Array) -> float:
        """How far what the weights of scores [b, h, q, k] add up to is from 1, at the most."""
        steps = replace(CORRECT, **self.steps)
        weights = steps.after_softmax(steps.softmax(scores), None)
        ones = np.ones((*scores.shape[:2], scores.shape[-1], 6))
        return float(np.abs(steps.mix(weights, ones) - 1.0).max())

    def shows(self, hiding: bool) -> bool:
        """True for a way that differs from the others without empty rows."""
        return "after_softmax" not in self.steps or (hiding and "softmax" in self.steps)

    def ways(self) -> Sequence[Mistake]:
        """The same mistake by each of the steps that make it, itself first."""
        return self._ways

    @functools.cached_property
    def _ways(self) -> tuple[Mistake, ...]:
        return (self, *(replace(self, steps=steps) for steps in self.others))

    @functools.cached_property
    def plain_ways(self) -> tuple[Mistake, ...]:
        """Those that differ where no mask is given: one that is built in may leave rows empty."""
        apart = {"softmax", "visible", "hide", "mix"}
        return tuple(
            way
            for way in self.ways()
            if way == self or "after_softmax" not in way.steps or apart & set(way.steps)
        )

    def can_be_made(self, contract: Contract) -> bool:
        """Under this contract; what it asks for itself is no mistake."""
        asked = self.id == "residual-inside" and contract.residual
        several = len(contract.inputs) > 1 and not contract.one_length
        fits = (contract.causal or not self.causal) and self.inputs <= len(contract.inputs)
        if asked or (self.square and several):
            return False
        fits = fits and (len(contract.inputs) < 3 or not self.fused)
        return fits and (contract.mask == "attention" or not self.per_head)


def combine(mistakes: Sequence[Mistake], right: Steps = CORRECT) -> Steps:
    """The right steps with every one of these mistakes made; they replace different ones."""
    changes = tuple(item for mistake in mistakes for item in mistake.steps.items())
    return _changed(right, changes) if changes else right


@functools.lru_cache(maxsize=8192)
def _changed(right: Steps, changes: tuple[tuple[str, Any], ...]) -> Steps:
    return replace(right, **dict(changes))


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
    usual = ((one, way) for one in known for way in one.ways()[: one.usual])
    ways = [way for one, way in usual if way == one or way.shows(hiding)]
    open_ways = [way for way in ways if are_compatible(made, way)]
    for one, other in itertools.combinations(open_ways, 2):
        if one.id != other.id and are_compatible([one], other):
            yield [one, other]
