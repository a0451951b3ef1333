"""Rules out most readings of a file by what it returned for a sequence of one token.

Of one token there is one value in each head, and scores, masks and softmax do no more than weigh
these few. So what came back lies in their span, or the values are made, merged or projected in
another way than was thought, and no mistake of scores, masks or weights needs to be tried.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto

import numpy as np

from grader.bank.draw import right_steps
from grader.convention.trials import Trial
from grader.definition import CORRECT, Steps, Weights, make_heads
from grader.layout import Layout
from grader.mistakes import Mistake, combine
from grader.model import Array, Contract

# How far off the span, and from 1, what is right may be: far more than rounding, even of float32.
OFF_SPAN = 1e-4
OFF_ONE = 1e-2


class Span(Enum):
    """What weights of the values give what was returned."""

    NONE = auto()
    ONES = auto()
    OTHERS = auto()
    UNKNOWN = auto()


class Screen:
    """One reading of the parameters, held against what one token gave."""

    def __init__(self, alone: Trial, layout: Layout, contract: Contract) -> None:
        self.alone = alone
        self.layout = layout
        self.right = right_steps(contract)
        reading = layout.wide, layout.kv_heads, self.right.finish
        # Queries and keys play no part where the values are made as they should be.
        self.plain = (*reading, layout.places["Wv"], layout.places.get("Wo"))
        self.every = (*reading, *layout.places.values())

    def passes(self, mistakes: Sequence[Mistake]) -> bool:
        """False where the module cannot have made these mistakes and no others."""
        touching = tuple(one.value_steps for one in mistakes if one.value_steps)
        key = (self.every, touching) if touching else self.plain
        if key not in self.alone.spans:
            self.alone.spans[key] = self._find(combine(mistakes, self.right))
        span = self.alone.spans[key]
        if span is Span.NONE or span is Span.UNKNOWN:
            return span is Span.UNKNOWN
        ones = [one.leaves_one for one in mistakes]
        return None in ones or all(ones) is (span is Span.ONES)

    def _find(self, steps: Steps) -> Span:
        if steps.split is not CORRECT.split or not np.isfinite(self.alone.output).all():
            return Span.UNKNOWN
        weights = steps.weights(self.alone.read(self.layout))
        inner = () if steps.heads is CORRECT.heads else (weights.Wq, weights.Wk)
        used = (weights.Wv, weights.bv, weights.Wo, weights.bo, *inner)
        rest = steps.inputs, steps.heads, steps.merge, steps.project, steps.finish
        # What has been looked at is kept, so that its address stands for it.
        key = (*map(id, used), *rest)
        if key not in self.alone.spans:
            self.alone.spans[key] = _span(self.alone, weights, steps)
            self.alone.kept.append(used)
        return self.alone.spans[key]


def _span(alone: Trial, weights: Weights, steps: Steps) -> Span:
    """The least squares of a weight for each head and sample."""
    try:
        with np.errstate(all="ignore"):
            values, rest = _apart(alone, weights, steps)
    except ValueError:
        return Span.UNKNOWN
    if alone.output.shape != rest.shape:
        return Span.UNKNOWN
    left = (alone.output - rest).swapaxes(-1, -2)
    squares = values.swapaxes(-1, -2) @ values
    # A head without values has no weight.
    squares += np.eye(squares.shape[-1]) * (1e-12 * np.abs(squares).max() + 1e-300)
    shares = np.linalg.solve(squares, values.swapaxes(-1, -2) @ left)
    if not np.abs(left - values @ shares).max() <= OFF_SPAN * np.abs(alone.output).max():
        return Span.NONE
    return Span.ONES if np.abs(shares - 1.0).max() <= OFF_ONE else Span.OTHERS


def _apart(alone: Trial, weights: Weights, steps: Steps) -> tuple[Array, Array]:
    """What each head gives by itself, [b, m, h], and what is returned without them, [b, 1, m]."""
    problem = alone.problem
    inputs = steps.inputs(*problem.attended)
    v = make_heads(weights, inputs, problem.sizes.num_heads, steps)[2]
    batch, heads = v.shape[:2]
    single = np.eye(heads + 1, heads, -1)[:, None, :, None, None] * v
    projected = steps.project(steps.merge(single.reshape(-1, *v.shape[1:])), weights)
    projected = projected.reshape(heads + 1, batch, -1)
    rest = steps.finish(projected[0][:, None], inputs[0])
    return (projected[1:] - projected[0]).transpose(1, 2, 0), rest
