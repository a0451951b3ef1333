"""Rules out most readings of a file at little cost, before the definition is held against it.

Of one token there is one value in each head, and scores, masks and softmax do no more than weigh
these few. So what came back lies in their span, or the values are made, merged or projected in
another way than was thought, and no mistake of scores, masks or weights needs to be tried. Of more
tokens the weights tell which keys are seen, and no mask that shows others needs to be tried.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from enum import Enum, auto

import numpy as np

from grader.bank.draw import right_steps
from grader.convention.pattern import ANYTHING, Pattern, read_pattern
from grader.convention.span import OFF_SPAN, find_shares
from grader.convention.trials import Trials, seen_by_itself
from grader.definition import CORRECT, Steps, Weights, linear
from grader.layout import Layout
from grader.mistakes import Mistake, combine
from grader.model import Contract

# How far from 1 the weight of the only token may be.
OFF_ONE = 1e-2


class Span(Enum):
    """What weights of the values give what was returned."""

    NONE = auto()
    ONES = auto()
    OTHERS = auto()
    UNKNOWN = auto()


class Screen:
    """One reading of the parameters, held against what a file returned for one token."""

    def __init__(self, trials: Trials, layout: Layout, contract: Contract) -> None:
        self.alone = trials.alone[0]
        self.drawn = trials.drawn[0]
        self.layout = layout
        self.contract = contract
        self.right = right_steps(contract)
        # Queries and keys play no part where the values are made as they should be.
        self.plain = (self.right.finish, layout.of_values)
        self.every = (self.right.finish, layout.wide, layout.kv_heads, *layout.places.values())
        # What is in the trials under longer keys, for this reading.
        self._spans: dict[tuple[object, ...], Span] = {}
        self._allowed: dict[tuple[object, ...], bool] = {}

    def may_be_right(self) -> bool:
        """False where the values, as they are, are not what came back for one token."""
        key = "right", self.plain
        if key not in self.alone.told:
            self.alone.told[key] = self._is_sum_of_values()
        return bool(self.alone.told[key])

    def _is_sum_of_values(self) -> bool:
        alone = self.alone
        if alone.output.shape != alone.problem.inputs[0].shape or not alone.known.all():
            return True
        query, _, value = alone.problem.attended
        weights = alone.read(self.layout)
        # Merged again at once, they are what they were before they were split.
        projected = self.right.project(linear(value, weights.Wv, weights.bv), weights)
        off = np.abs(self.right.finish(projected, query) - alone.output).max()
        return bool(off <= OFF_SPAN * np.abs(alone.output).max())

    def has_values(self) -> bool:
        """True where some weights of these values gave what came back for one token."""
        return self._span((), ()) in (Span.ONES, Span.OTHERS)

    def passes(self, mistakes: Sequence[Mistake]) -> bool:
        """False where the module cannot have made these mistakes and no others."""
        shown = tuple([one.alone_steps for one in mistakes if one.alone_steps])
        if shown not in self._spans:
            self._spans[shown] = self._span(shown, mistakes)
        span = self._spans[shown]
        if span is Span.NONE:
            return False
        if span is not Span.UNKNOWN:
            ones = [one.leaves_one for one in mistakes]
            if None not in ones and all(ones) is not (span is Span.ONES):
                return False
        return any(one.value_steps for one in mistakes) or self._fits_pattern(mistakes)

    def _span(self, shown: tuple[object, ...], mistakes: Sequence[Mistake]) -> Span:
        key = (self.every, shown) if shown else self.plain
        if key not in self.alone.told:
            self.alone.told[key] = self._find(combine(mistakes, self.right))
        found: Span = self.alone.told[key]
        return found

    def _find(self, steps: Steps) -> Span:
        weights = steps.weights(self.alone.read(self.layout))
        inner = () if steps.heads is CORRECT.heads else (weights.Wq, weights.Wk)
        used = (weights.Wv, weights.bv, weights.Wo, weights.bo, *inner)
        made = steps.inputs, steps.heads, steps.merge, steps.project, steps.finish
        key = (*map(id, used), *made)
        if key not in self.alone.told:
            self.alone.told[key] = self._weigh(weights, steps)
            # What is kept is not made again elsewhere, so that its address stands for it.
            self.alone.told[key, "kept"] = used
        found: Span = self.alone.told[key]
        return found

    def _weigh(self, weights: Weights, steps: Steps) -> Span:
        alone = self.alone
        if alone.output.shape != alone.problem.inputs[0].shape:
            return Span.UNKNOWN
        if not alone.known.any():
            # A token that does not see itself: others may.
            merged = steps.merge is CORRECT.merge and steps.split is CORRECT.split
            pattern = self._read_pattern(steps) if merged else ANYTHING
            return Span.NONE if pattern is None else Span.UNKNOWN
        try:
            shares = find_shares(alone, weights, steps)
        except ValueError:
            return Span.UNKNOWN
        if shares is None:
            return Span.NONE
        known = np.moveaxis(shares, -1, 1)[alone.known]
        told = known[~np.isnan(known)]
        if not told.size:
            return Span.UNKNOWN
        return Span.ONES if np.abs(told - 1.0).max() <= OFF_ONE else Span.OTHERS

    def _fits_pattern(self, mistakes: Sequence[Mistake]) -> bool:
        """By which keys are seen of several tokens."""
        pattern = self._pattern
        if pattern is None:
            return False
        weighing = [one for one in mistakes if one.weighs] if pattern.full else []
        if len(weighing) == 1 and weighing[0].breaks_sums:
            return False
        if pattern is ANYTHING or not all(one.keeps_pattern for one in mistakes):
            return True
        ways = tuple([one.steps["visible"] for one in mistakes if "visible" in one.steps])
        if ways not in self._allowed:
            shown = seen_by_itself(self.contract, self.drawn.problem.sizes)
            for way in ways:
                shown = None if shown is None else way(shown)
            self._allowed[ways] = pattern.allows(None if shown is None else shown[0, 0])
        return self._allowed[ways]

    @functools.cached_property
    def _pattern(self) -> Pattern | None:
        told = self.drawn.told
        if self.plain not in told:
            told[self.plain] = self._read_pattern(self.right)
        pattern: Pattern | None = told[self.plain]
        return pattern

    def _read_pattern(self, steps: Steps) -> Pattern | None:
        drawn = self.drawn
        if drawn.output.shape != drawn.problem.inputs[0].shape or not drawn.known.any():
            return ANYTHING
        try:
            return read_pattern(drawn, steps.weights(drawn.read(self.layout)), steps)
        except ValueError:
            return ANYTHING
