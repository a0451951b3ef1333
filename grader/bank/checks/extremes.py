"""Checks with values at the ends of what a dtype holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from grader.bank.bench import Bench, Finding, trouble
from grader.bank.checks.values import compare
from grader.bank.draw import Problem
from grader.model import Array, Case
from grader.precision import PRECISIONS

# Half of what float16 holds: any mean of such values fits, the sum of three does not.
LARGE = 2.0**15
FAINT = 1e-2


def averages_large_values(
    bench: Bench, case: Case, mask: Mapping[str, str] | None = None
) -> Finding:
    """In float16 values near its limit are averaged without a sum that does not fit."""
    problem = _enlarge(bench.draw(case, mask=mask, dtype="float16"))
    seen = bench.run(bench.probe(problem))
    return trouble(seen) or compare(bench, case, problem, seen)


def tells_faint_scores_apart(
    bench: Bench, case: Case, mask: Mapping[str, str] | None = None
) -> Finding:
    """Scores of 1e-4, and some of exactly 0, are scores like any other."""
    problem = bench.draw(case, mask=mask)
    weights = problem.weights
    fainter = {name: getattr(weights, name) * FAINT for name in ("Wq", "Wk")}
    for name in ("bq", "bk"):
        bias = getattr(weights, name)
        fainter[name] = None if bias is None else np.zeros_like(bias)
    inputs = tuple(_silence(x) for x in problem.inputs)
    problem = replace(problem, inputs=inputs, weights=replace(weights, **fainter))
    seen = bench.run(bench.probe(problem))
    return trouble(seen) or compare(bench, case, problem, seen)


def _silence(x: Array) -> Array:
    """The same with one token of zeros in each sample."""
    quiet = x.copy()
    quiet[:, 1] = 0.0
    return quiet


def _enlarge(problem: Problem) -> Problem:
    """Tokens much alike, values up to `LARGE` with few changes of sign, an output in range."""
    store = PRECISIONS[problem.dtype].store
    inputs = tuple(store(1.0 + 0.25 * x) for x in problem.inputs)
    near = replace(problem, inputs=inputs)
    weights = problem.weights
    times = 0.9 * LARGE / np.abs(near.expect(near.right).v).max()
    larger: dict[str, Array] = {"Wv": store(weights.Wv * times)}
    if weights.Wo is not None:
        larger["Wo"] = store(weights.Wo / times)
    return replace(near, weights=replace(weights, **larger))
