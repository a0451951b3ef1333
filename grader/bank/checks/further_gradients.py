"""Checks on gradients of gradients, and on gradients under autocast."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from grader.bank.bench import Bench
from grader.bank.checks.gradients import gradients_seen, movable, name_gradients, shift
from grader.bank.findings import PASSED, Finding, failed, trouble
from grader.bank.problem import Problem
from grader.calling import NotOfferedError
from grader.definition import Activations, Store, attend, exact
from grader.derivatives import Gradients, differentiate
from grader.model import Array, Case, Message, Status
from grader.precision import PRECISIONS, distance, size, ways

# Of a second difference in float64: the square of the step costs half of the digits.
STEP = 1e-4
CORNERS = ((1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0))


def matches_second_gradients(
    bench: Bench, case: Case, mask: Mapping[str, str] | None = None
) -> Finding:
    """Gradients of a gradient are the definition's second differences.

    Where the way back cannot be taken twice torch says so, and nothing in a contract asks for it.
    """
    problem = bench.draw(case, mask=mask)
    rng = bench.rng(f"{case.id} ways")
    cotangent = rng.normal(size=problem.inputs[0].shape)
    names = bench.contract.inputs
    along = {("inputs", n): rng.normal(size=x.shape) for n, x in zip(names, problem.inputs)}
    directions = tuple(bench.plan.arrange(along["inputs", n]) for n in bench.inputs_in_call())
    seen = bench.run(bench.probe(problem, cotangent=cotangent, directions=directions))
    if seen.status is Status.RAISED and seen.fault and seen.fault.phase == "backward":
        raise NotOfferedError("second-gradients")
    found = trouble(seen)
    if found is not None:
        return found
    charged = bench.charged_elsewhere(case)
    steps = bench.steps(charged)
    got = gradients_seen(bench, seen)
    values = movable(bench, problem)
    across = {key: rng.normal(size=x.shape) for key, x in values.items()}
    slope = sum(_along(got.get(key), way) for key, way in across.items())
    wanted = 0.0
    for one, other in CORNERS:
        there = shift(bench, problem, values, (one * STEP, along), (other * STEP, across))
        wanted += one * other * float((there.work_out(steps).output * cotangent).sum())
    wanted /= 4 * STEP**2
    if not abs(slope - wanted) <= 1e-3 * max(1.0, abs(wanted)):
        return failed("gradient.second", got=f"{slope:.4g}", expected=f"{wanted:.4g}")
    return Finding(1.0, Message("followed", {"mistake": charged[-1].id})) if charged else PASSED


def _along(gradient: Array | None, way: Array) -> float:
    """The gradient's share of a slope; what the first gradient does not depend on has none."""
    if gradient is None:
        return 0.0
    with np.errstate(all="ignore"):
        return float((gradient * way).sum()) if gradient.shape == way.shape else np.nan


def keeps_gradients_under_autocast(
    bench: Bench, case: Case, autocast: str, mask: Mapping[str, str] | None = None
) -> Finding:
    """Gradients under autocast are the definition's, as far as the narrow dtype can tell.

    With a mistake charged elsewhere they need only be finite.
    """
    problem = bench.draw(case, mask=mask, dtype=autocast)
    store = PRECISIONS[autocast].store
    cotangent = store(bench.rng(f"{case.id} back").normal(size=problem.inputs[0].shape))
    probe = bench.probe(problem, dtype="float32", autocast=autocast, cotangent=cotangent)
    seen = bench.run(probe)
    found = trouble(seen)
    if found is not None:
        return found
    charged = bench.charged_elsewhere(case)
    got = gradients_seen(bench, seen)
    for of, expected, allowed in _allow(bench, problem, cotangent):
        for name, wanted in expected.items():
            gradient = got.get((of, name))
            if gradient is None or gradient.shape != wanted.shape:
                return failed("gradient.missing", name=name)
            with np.errstate(all="ignore"):
                error = float(np.abs(gradient - wanted).max(initial=0.0))
            if not (np.isfinite(error) and (charged or error <= allowed)):
                fields = {"got": f"{error:.2g}", "allowed": f"{allowed:.2g}"}
                return failed("gradient.autocast", name=name, dtype=autocast, **fields)
    return Finding(1.0, Message("followed", {"mistake": charged[-1].id})) if charged else PASSED


def _allow(
    bench: Bench, problem: Problem, cotangent: Array
) -> list[tuple[str, dict[str, Array], float]]:
    """Gradients of inputs and of parameters, and how far right ones may be off.

    As for values: the way back is rounded like the way there. There is one figure for all inputs
    and one for all parameters: where a gradient is 0, as the key bias's, it is the noise of others.
    """
    precision = PRECISIONS[problem.dtype]
    cotangent = problem.right.blank(cotangent, problem.visible)
    evaluated = problem.once("autocast", lambda: _evaluate(problem, cotangent))
    exactly, *rounded = (name_gradients(bench, problem, cotangent, one) for one in evaluated)
    found = []
    for of, expected in exactly.items():
        off = (distance(run[of][name], expected[name]) for run in rounded for name in expected)
        largest = max(size(array) for array in expected.values())
        allowed = max(precision.factor * max(off), precision.floor * largest)
        found.append((of, expected, allowed))
    return found


def _evaluate(problem: Problem, cotangent: Array) -> list[Gradients]:
    """Exact gradients first, then those of right ways with every intermediate rounded."""
    weights, heads, visible = problem.weights, problem.sizes.num_heads, problem.visible
    rounding, steps = PRECISIONS[problem.dtype].store, problem.right

    def back(acts: Activations, store: Store) -> Gradients:
        return differentiate(weights, *problem.attended, acts, cotangent, store, steps)

    runs = (
        attend(weights, *problem.attended, heads, visible, way, rounding)
        for way in ways(steps, rounding, weights)
    )
    return [back(problem.truth, exact), *(back(run, rounding) for run in runs)]
