"""Checks with values at the ends of what a dtype holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from grader.bank.bench import Bench
from grader.bank.comparison import compare
from grader.bank.findings import Finding, trouble
from grader.bank.problem import Problem
from grader.definition import Weights
from grader.model import Array, Case
from grader.precision import PRECISIONS

# Half of what float16 holds: any mean of such values fits, the sum of three does not.
LARGE = 2.0**15
FAINT = 1e-2
# exp of it is below half an ulp of 1 in float16, and well above what float16 rounds coarsely.
LOW = -8.4
MANY = {"batch": 1, "q_len": 96, "kv_len": 128, "d_model": 6, "num_heads": 1}


def averages_large_values(
    bench: Bench, case: Case, mask: Mapping[str, str] | None = None
) -> Finding:
    """In float16 values near its limit are averaged without a sum that does not fit."""
    drawn = bench.draw(case, mask=mask, dtype="float16")
    problem = drawn.once("enlarged", lambda: _enlarge(drawn))
    seen = bench.run(bench.probe(problem))
    return trouble(seen) or compare(bench, case, problem, seen, named=False)


def tells_faint_scores_apart(
    bench: Bench, case: Case, mask: Mapping[str, str] | None = None
) -> Finding:
    """Scores of 1e-4, and some of exactly 0, are scores like any other."""
    drawn = bench.draw(case, mask=mask)
    problem = drawn.once("faint", lambda: _quieten(drawn))
    seen = bench.run(bench.probe(problem))
    return trouble(seen) or compare(bench, case, problem, seen, named=False)


def adds_up_small_shares(bench: Bench, case: Case) -> Finding:
    """In float16 many small weights after a large one count: together they are 2 % of the sum.

    A sum kept in float16 from key to key loses each of them; torch adds up in float32.
    """
    # With keys of their own a few queries show it.
    sizes = MANY if len(bench.contract.inputs) == 1 else {**MANY, "q_len": 8}
    drawn = bench.draw(case, sizes, dtype="float16")
    problem = drawn.once("outweighed", lambda: _outweigh(drawn))
    seen = bench.run(bench.probe(problem))
    return trouble(seen) or compare(bench, case, problem, seen, named=False)


def _silence(x: Array) -> Array:
    """The same with a first token of zeros, which no mask in the bank hides from all."""
    quiet = x.copy()
    quiet[:, 0] = 0.0
    return quiet


def _quieten(problem: Problem) -> Problem:
    """The same with scores near 0, some of them exactly."""
    inputs = tuple(_silence(x) for x in problem.inputs)
    return replace(problem, inputs=inputs, weights=_fade(problem, problem.weights))


def _fade(problem: Problem, weights: Weights) -> Weights:
    """The same with scores near 0."""
    store, plain = PRECISIONS[problem.dtype].store, _without_score_biases(weights)
    return replace(plain, Wq=store(plain.Wq * FAINT), Wk=store(plain.Wk * FAINT))


def _without_score_biases(weights: Weights) -> Weights:
    """The same with biases of zero where they reach the scores."""
    zeros = {
        name: np.zeros_like(getattr(weights, name))
        for name in ("bq", "bk")
        if getattr(weights, name) is not None
    }
    return replace(weights, **zeros)


def _enlarge(problem: Problem) -> Problem:
    """Tokens and weights much alike, values up to `LARGE`, an output in range."""
    store = PRECISIONS[problem.dtype].store
    inputs = tuple(store(1.0 + 0.25 * x) for x in problem.inputs)
    near = replace(problem, inputs=inputs)
    weights = _fade(problem, problem.weights)
    times = 0.9 * LARGE / np.abs(near.expect(near.right).v).max()
    larger: dict[str, Array] = {"Wv": store(weights.Wv * times)}
    if weights.Wo is not None:
        larger["Wo"] = store(weights.Wo / times)
    return replace(near, weights=replace(weights, **larger))


def _outweigh(problem: Problem) -> Problem:
    """Scores of about 0 for the first key and of `LOW` for all others."""
    store, width = PRECISIONS[problem.dtype].store, problem.sizes.d_model
    near = tuple(store(1.0 + 0.02 * x) for x in problem.inputs)
    inputs = tuple(_silence(x) for x in near)
    root = np.eye(width) * np.sqrt(-LOW / np.sqrt(width))
    weights = replace(_without_score_biases(problem.weights), Wq=store(root), Wk=store(-root))
    return replace(problem, inputs=inputs, weights=weights)
