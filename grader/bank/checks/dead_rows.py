"""Checks on rows in which every key is hidden: weights 0, so output = the projection of 0."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from grader.bank.ahead import Posed, judges
from grader.bank.bench import Bench
from grader.bank.checks.gradients import gradients_seen
from grader.bank.comparison import compare
from grader.bank.findings import PASSED, Finding, failed, letters, trouble
from grader.bank.problem import Problem
from grader.model import Array, Case, Message, Observation


def pose_dead_rows(
    bench: Bench,
    case: Case,
    dtype: str = "float64",
    mask: Mapping[str, str] | None = None,
    autocast: str | None = None,
    sizes: Mapping[str, int] | None = None,
) -> Posed:
    """One call under a mask that leaves some query nothing to see."""
    problem = bench.draw(case, sizes, mask=mask, dtype=autocast or dtype)
    wide = "float32" if autocast else dtype
    return Posed(problem, bench.probe(problem, dtype=wide, autocast=autocast))


@judges(pose_dead_rows)
def handles_dead_rows(
    bench: Bench, case: Case, problem: Problem, seen: Observation, args: Mapping[str, Any]
) -> Finding:
    """No NaN; weights exactly zero; the other rows as ever."""
    found = trouble(seen)
    if found is not None:
        return found
    answer = bench.answer(seen)
    dead = dead_queries(problem)
    message = None
    if answer.output is not None and answer.output.shape == problem.truth.output.shape:
        weights = None if bench.contract.uniform_dead_rows else answer.weights
        message = _describe(problem, answer.output, weights, dead)
    if message is not None:
        return Finding(0.0, message)
    found = compare(bench, case, problem, seen)
    if found.credit == 1.0 and bench.contract.uniform_dead_rows:
        return Finding(0.5, Message("dead.uniform-half", {"dtype": problem.dtype}))
    return found


def dead_row_gradients_are_finite(
    bench: Bench, case: Case, dtype: str = "float64", mask: Mapping[str, str] | None = None
) -> Finding:
    """Gradients of every input and parameter are numbers."""
    problem = bench.draw(case, mask=mask, dtype=dtype)
    cotangent = bench.rng(case).normal(size=problem.inputs[0].shape)
    seen = bench.run(bench.probe(problem, cotangent=cotangent))
    found = trouble(seen)
    if found is not None:
        return found
    gradients = gradients_seen(bench, seen)
    for (of, name), gradient in gradients.items():
        if gradient is None and of == "inputs":
            return failed("gradient.missing", name=name)
    known = [(name, g) for (_, name), g in gradients.items() if g is not None]
    broken = [name for name, gradient in known if not np.isfinite(gradient).all()]
    if not broken:
        return PASSED
    return failed("dead.gradient-not-finite", dtype=dtype, names=", ".join(broken))


def dead_queries(problem: Problem) -> Array:
    """[b, q]: rows that see nothing in any head."""
    assert problem.visible is not None
    return np.asarray(~problem.visible.any(axis=(1, 3)))


def _describe(
    problem: Problem, output: Array, weights: Array | None, dead: Array
) -> Message | None:
    """What the dead rows hold instead of nothing, if anything."""
    expected = problem.truth
    first = np.argwhere(dead)[0]
    fields = {"dtype": problem.dtype, "index": letters([int(i) for i in first])}
    if not np.isfinite(output[dead]).all():
        rows = int((~np.isfinite(output).all(axis=-1) & dead).sum())
        return Message("dead.not-finite", {**fields, "count": rows, "total": int(dead.sum())})
    if weights is not None and weights.shape == expected.weights.shape:
        rows = weights.transpose(0, 2, 1, 3)[dead]
        if not np.isfinite(rows).all():
            return Message("dead.weights-not-finite", fields)
        if (rows != 0.0).any():
            uniform = np.allclose(rows, 1.0 / problem.sizes.kv_len, rtol=0.01)
            return Message("dead.uniform" if uniform else "dead.not-zero", fields)
    errors = np.abs(output - expected.output)[dead]
    if any((errors <= allowed.output).all() for allowed in problem.tolerance):
        return None
    return Message("dead.output" if output[dead].any() else "dead.output-zero", fields)
