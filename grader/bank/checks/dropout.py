"""Checks on dropout, by reading the attention weights back out of the output.

With no more keys than head dimensions the values of one head are linearly independent, so the
weights that were really applied follow from the output: context = output through the inverse of
the output projection, weights = context through the pseudo-inverse of the values. Whether what
comes out is w, 0 or w / (1 - p) then tells where dropout acted and how it was scaled.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np

from grader.bank.bench import PASSED, Bench, Finding, failed, trouble
from grader.bank.checks.values import compare
from grader.definition import split_heads
from grader.model import Array, Case

SIZES = {"batch": 48, "q_len": 6, "kv_len": 6, "d_model": 18, "num_heads": 3}
# One run in ten million is a false alarm: 5.33 standard deviations, both sides.
DEVIATIONS = 5.33


@dataclass(frozen=True)
class Applied:
    """Ratios [n] of the weights applied in training to those of eval, and how well they fit."""

    ratios: Array
    residual: float


def is_off_in_eval(bench: Bench, case: Case, probability: float) -> Finding:
    """In eval the output is the definition's, however high the probability."""
    missing = _argument(bench)
    if missing is not None:
        return missing
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


def is_on_in_training(bench: Bench, case: Case, probability: float) -> Finding:
    """In training two calls on the same input differ."""
    applied = _apply(bench, case, probability)
    if isinstance(applied, Finding):
        return applied
    if np.allclose(applied.ratios, 1.0, atol=1e-6):
        return failed("dropout.never-on", probability=probability)
    return PASSED


def drops_weights(bench: Bench, case: Case, probability: float) -> Finding:
    """Single attention weights are dropped, at the rate asked for, and nothing else is."""
    applied = _apply(bench, case, probability)
    if isinstance(applied, Finding):
        return applied
    dropped = np.abs(applied.ratios) < 1e-6
    kept = applied.ratios[~dropped]
    if applied.residual > 1e-6 or (kept.size and np.ptp(kept) > 1e-5 * np.abs(kept).max()):
        return failed("dropout.elsewhere")
    share = float(dropped.mean())
    spread = math.sqrt(probability * (1 - probability) / dropped.size)
    if abs(share - probability) > DEVIATIONS * spread:
        return failed("dropout.rate", got=f"{share:.3f}", expected=probability)
    return PASSED


def scales_inversely(bench: Bench, case: Case, probability: float) -> Finding:
    """What is kept grows by 1 / (1 - p)."""
    applied = _apply(bench, case, probability)
    if isinstance(applied, Finding):
        return applied
    kept = applied.ratios[np.abs(applied.ratios) > 1e-6]
    factor = float(np.median(kept)) if kept.size else 0.0
    wanted = 1.0 / (1.0 - probability)
    if abs(factor - wanted) < 1e-6:
        return PASSED
    return failed("dropout.scale", got=f"{factor:.4g}", expected=f"{wanted:.4g}")


def _argument(bench: Bench) -> Finding | None:
    return None if bench.plan.dropout else failed("dropout.no-argument")


def _apply(bench: Bench, case: Case, probability: float) -> Applied | Finding:
    """Train-mode weights over eval-mode weights, element by element; seen once for all cases."""
    make = functools.partial(_look, bench, case, probability)
    return bench.remember(("dropout", probability), make)


def _look(bench: Bench, case: Case, probability: float) -> Applied | Finding:
    missing = _argument(bench)
    if missing is not None:
        return missing
    problem = bench.draw("dropout", SIZES)
    seen = bench.run(
        bench.probe(problem, dropout=probability, train=True, seed=int(bench.seed) & 0xFFFF)
    )
    found = trouble(seen)
    if found is not None:
        return found
    output = bench.answer(seen).output
    acts = bench.expect(case, problem)
    if output is None or output.shape != acts.output.shape or not np.isfinite(output).all():
        return failed("dropout.no-output")
    merged = output if problem.weights.bo is None else output - problem.weights.bo
    if problem.weights.Wo is not None:
        merged = np.linalg.solve(problem.weights.Wo, merged[..., None])[..., 0]
    context = split_heads(merged, problem.sizes.num_heads)  # b h q d
    weights = context @ np.linalg.pinv(acts.v)  # b h q k
    residual = float(np.abs(weights @ acts.v - context).max() / np.abs(context).max())
    # Where a weight is tiny its ratio is noise.
    clear = acts.weights > 1e-3
    return Applied(weights[clear] / acts.weights[clear], residual)
