"""Checks on dropout, by the attention weights that are read back out of the output.

Whether what was applied is w, 0 or w / (1 - p) tells where dropout acted and how it was scaled.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from grader.bank.applied import NOISE, SIZES, Applied, apply
from grader.bank.bench import Bench
from grader.bank.comparison import compare
from grader.bank.findings import PASSED, Finding, failed, trouble
from grader.model import Case

AXES = ("batch", "heads", "queries", "keys")
# Of one comparison; a file meets fewer than a thousand.
FALSE_ALARM = 1e-10
STEP = 1e-3


def is_off_in_eval(bench: Bench, case: Case, probability: float) -> Finding:
    """In eval the output is the definition's, however high the probability."""
    if not bench.plan.has_dropout:
        return failed("dropout.no-argument")
    problem = bench.draw(case)
    calls = (bench.call(problem), bench.call(problem))
    seen = bench.run(bench.probe(problem, dropout=probability, calls=calls))
    found = trouble(seen)
    if found is not None:
        return found
    first, second = bench.answer(seen, 0).output, bench.answer(seen, 1).output
    if first is not None and second is not None and not np.array_equal(first, second):
        return failed("dropout.on-in-eval", probability=probability)
    return compare(bench, case, problem, seen)


def repeats_in_eval(bench: Bench, case: Case) -> Finding:
    """With whatever rate is the default, two calls in eval give the same."""
    problem = bench.draw(case)
    seen = bench.run(bench.probe(problem, calls=(bench.call(problem), bench.call(problem))))
    found = trouble(seen)
    if found is not None:
        return found
    first, second = bench.answer(seen, 0).output, bench.answer(seen, 1).output
    if first is not None and second is not None and np.array_equal(first, second):
        return PASSED
    return failed("dropout.differs-in-eval")


def is_on_in_training(bench: Bench, case: Case, probability: float) -> Finding:
    """In training weights are dropped, and other ones in each call."""
    applied = apply(bench, case, probability)
    if isinstance(applied, Finding):
        return applied
    if np.allclose(applied.seen, 1.0, atol=NOISE):
        return failed("dropout.never-on", probability=probability)
    if np.array_equal(applied.ratios[0][applied.clear], applied.ratios[1][applied.clear]):
        # Weights cannot be read through a wrong merge, but what eval gives is no dropout at all.
        idle = _is_idle(bench, probability)
        fields = {"probability": probability} if idle else {}
        return failed("dropout.never-on" if idle else "dropout.repeats", **fields)
    return PASSED


def _is_idle(bench: Bench, probability: float) -> bool:
    problem = bench.draw(f"dropout {probability} None", SIZES)
    both = (bench.probe(problem, dropout=probability, train=train) for train in (True, False))
    outputs = [
        None if trouble(seen) else bench.answer(seen).output for seen in map(bench.run, both)
    ]
    one, other = outputs
    return one is not None and other is not None and np.array_equal(one, other)


def drops_weights(
    bench: Bench, case: Case, probability: float, mask: Mapping[str, str] | None = None
) -> Finding:
    """Single attention weights are dropped, at the rate asked for, and nothing else is."""
    applied = apply(bench, case, probability, mask)
    if isinstance(applied, Finding):
        return applied
    dropped = np.abs(applied.seen) < NOISE
    kept = applied.seen[~dropped]
    if applied.residual > 1e-3 or (kept.size and np.ptp(kept) > NOISE * np.abs(kept).max()):
        return failed("dropout.renormalised" if applied.renormalised else "dropout.elsewhere")
    share = float(dropped.mean())
    if _is_off(share, probability, dropped.size):
        return failed("dropout.rate", got=f"{share:.3f}", expected=probability)
    return PASSED


def drops_each_by_itself(bench: Bench, case: Case, probability: float) -> Finding:
    """Along no axis are neighbours dropped together more often than chance has it.

    And at no place of an axis is the rate another. Two weights agree (both kept or both dropped)
    with probability p^2 + (1 - p)^2 when each has its own draw.
    """
    applied = apply(bench, case, probability)
    if isinstance(applied, Finding):
        return applied
    agreement = probability**2 + (1 - probability) ** 2
    for axis, name in enumerate(AXES):
        clear = np.moveaxis(applied.clear, axis, 0)
        dropped = np.moveaxis(applied.dropped, axis + 1, 1)
        # Pairs that share no member, or they would not be independent themselves.
        last = len(clear) // 2 * 2
        both = clear[1:last:2] & clear[0:last:2]
        alike = (dropped[:, 1:last:2] == dropped[:, 0:last:2])[:, both]
        if alike.size and _is_off(float(alike.mean()), agreement, alike.size):
            return failed("dropout.together", axis=name)
        for place in range(len(clear)):
            here = dropped[:, place][:, clear[place]]
            share = float(here.mean()) if here.size else probability
            if _is_off(share, probability, here.size):
                return failed("dropout.uneven", axis=name, got=f"{share:.3f}", expected=probability)
    return PASSED


def is_renormalised(bench: Bench, case: Case, probability: float) -> bool:
    """True where the weights that are kept are divided by their sum."""
    applied = apply(bench, case, probability)
    return isinstance(applied, Applied) and applied.renormalised


def scales_inversely(bench: Bench, case: Case, probability: float) -> Finding:
    """What is kept grows by 1 / (1 - p)."""
    applied = apply(bench, case, probability)
    if isinstance(applied, Finding):
        return applied
    kept = applied.seen[np.abs(applied.seen) > NOISE]
    # The middle one: numpy's median would import masked arrays for it.
    factor = float(np.sort(kept)[kept.size // 2]) if kept.size else 0.0
    wanted = 1.0 / (1.0 - probability)
    if abs(factor - wanted) < 1e-3:
        return PASSED
    return failed("dropout.scale", got=f"{factor:.4g}", expected=f"{wanted:.4g}")


def returns_weights_in_training(bench: Bench, case: Case, probability: float) -> Finding:
    """The returned weights are those before dropout, or those that were applied."""
    applied = apply(bench, case, probability)
    if isinstance(applied, Finding):
        return applied
    for returned, ratios in zip(applied.returned, applied.ratios):
        if returned is None or returned.shape != applied.weights.shape:
            return failed("dropout.returned")
        used = ratios * applied.weights
        close = [np.abs(returned - right) <= 1e-3 for right in (applied.weights, used)]
        if not any(c[applied.clear].all() for c in close):
            return failed("dropout.returned")
    return PASSED


def has_gradients_under_dropout(bench: Bench, case: Case, probability: float) -> Finding:
    """With the same draw, the gradient of the inputs fits the outputs a small step away."""
    if not bench.plan.has_dropout:
        return failed("dropout.no-argument")
    problem = bench.draw(case)
    cotangent = bench.rng(case).normal(size=problem.inputs[0].shape)
    options: dict[str, Any] = {"dropout": probability, "train": True, "seed": 11}
    seen = bench.run(bench.probe(problem, cotangent=cotangent, **options))
    found = trouble(seen)
    if found is not None:
        return found
    moved = [bench.rng(f"{case.id} {n}").normal(size=x.shape) for n, x in enumerate(problem.inputs)]
    slope = 0.0
    for name, gradient, step in zip(
        bench.contract.inputs, bench.input_gradients(seen).values(), moved
    ):
        if gradient is None or gradient.shape != step.shape:
            return failed("gradient.missing", name=name)
        slope += float((gradient * step).sum())
    ends = []
    for size in (STEP, -STEP):
        inputs = tuple(x + size * step for x, step in zip(problem.inputs, moved))
        there = bench.run(bench.probe(replace(problem, inputs=inputs), **options))
        output = None if trouble(there) else bench.answer(there).output
        if output is None or output.shape != cotangent.shape:
            return trouble(there) or failed("dropout.no-output")
        ends.append(float((output * cotangent).sum()))
    wanted = (ends[0] - ends[1]) / (2 * STEP)
    if abs(slope - wanted) <= 1e-2 * max(1.0, abs(wanted)):
        return PASSED
    return failed("dropout.slope", got=f"{slope:.4g}", expected=f"{wanted:.4g}")


def _is_off(share: float, expected: float, count: int) -> bool:
    """True when a share of `count` draws is farther from `expected` than chance allows.

    By Chernoff's bound: n draws come out this far off with probability at most
    2 exp(-n KL(share, expected)), whatever n is.
    """
    divergence = sum(
        got * math.log(got / wanted)
        for got, wanted in ((share, expected), (1 - share, 1 - expected))
        if got > 0
    )
    return count * divergence > math.log(2 / FALSE_ALARM)
