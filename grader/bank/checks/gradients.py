"""Checks on the backward pass."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

import numpy as np

from grader.bank.bench import Bench, in_training
from grader.bank.findings import PASSED, Finding, failed, letters, trouble
from grader.bank.problem import Problem
from grader.derivatives import Gradients, differentiate
from grader.layout.elements import SHARED
from grader.model import Array, Case, Message, Observation
from grader.variations import total_heads, total_ties

T = TypeVar("T")
# Of inputs or of parameters, and the name: a parameter may be called query.
Named = dict[tuple[str, str], T]

DIRECTIONS = 3
STEP = 1e-6
TOLERANCES = {"float64": 1e-6, "float32": 1e-4}


def matches_gradients(
    bench: Bench,
    case: Case,
    sizes: Mapping[str, int] | None = None,
    mask: Mapping[str, str] | None = None,
    dtype: str = "float64",
    of: str = "inputs",
    plain_inputs: bool = False,
    train: bool = False,
) -> Finding:
    """Gradients of a random combination of the outputs, for the inputs or for the parameters.

    With `plain_inputs` only parameters ask for gradients; `train` is training mode with a dropout
    of 0.
    """
    name = f"gradients {dtype} {sizes} {mask} {plain_inputs} {train}"
    problem = bench.draw(name, sizes, mask=mask, dtype=dtype)
    cotangent = bench.rng(name).normal(size=problem.inputs[0].shape)
    options = in_training(train)
    options["plain_inputs"] = plain_inputs
    probe = bench.probe(problem, cotangent=cotangent, **options)
    seen = bench.remember(name, lambda: bench.run(probe))
    found = trouble(seen)
    if found is not None:
        return found
    known = gradients_seen(bench, seen)
    if bench.charged_elsewhere(case):
        got = {key: gradient for key, gradient in known.items() if key[0] == of}
        return _follow(bench, case, problem, cotangent, got)
    expected = expect(bench, problem, cotangent, of)
    scale = max(np.abs(array).max(initial=0.0) for array in expected.values())
    for name, wanted in expected.items():
        array = known.get((of, name))
        if array is None:
            return failed("gradient.missing", name=name)
        if array.shape != wanted.shape:
            fields = {"got": letters(array.shape), "expected": letters(wanted.shape)}
            return failed("gradient.shape", name=name, **fields)
        error = np.abs(array - wanted)
        if not (error <= TOLERANCES[dtype] * scale).all():
            index = np.unravel_index(np.nan_to_num(error, nan=np.inf).argmax(), error.shape)
            return failed(
                "gradient.differs",
                name=name,
                index=letters([int(i) for i in index]),
                got=f"{array[index]:.4g}",
                expected=f"{wanted[index]:.4g}",
            )
    return PASSED


def gradients_seen(bench: Bench, seen: Observation) -> Named[Array | None]:
    """The gradients that came back, of inputs and of parameters."""
    found: Named[Array | None] = {}
    found.update((("inputs", n), g) for n, g in bench.input_gradients(seen).items())
    found.update((("parameters", n), g) for n, g in seen.parameter_gradients.items())
    return found


def expect(bench: Bench, problem: Problem, cotangent: Array, of: str) -> dict[str, Array]:
    """The definition's gradients under the candidate's own names."""
    cotangent = problem.right.blank(cotangent, problem.visible)
    known = problem.weights, *problem.attended, problem.truth, cotangent
    gradients = problem.once("gradients", lambda: differentiate(*known, steps=problem.right))
    return name_gradients(bench, problem, cotangent, gradients)[of]


def name_gradients(
    bench: Bench, problem: Problem, cotangent: Array, gradients: Gradients
) -> dict[str, dict[str, Array]]:
    """Gradients of inputs by the contract's names, of parameters by the candidate's."""
    assert bench.layout is not None
    around = cotangent if bench.contract.residual else 0.0
    parts = [gradients.query + around, gradients.key, gradients.value]
    while len(parts) > len(problem.inputs):
        # The last input was used more than once.
        parts[-2:] = [parts[-2] + parts[-1]]
    canonical = total_ties(replace(problem.weights, **gradients.weights), bench.contract.tied)
    heads, kv_heads = problem.sizes.num_heads, bench.layout.kv_heads
    if kv_heads:
        shared = [name for name in SHARED if getattr(canonical, name) is not None]
        totals = {n: total_heads(getattr(canonical, n), heads, kv_heads) for n in shared}
        canonical = replace(canonical, **totals)
    return {
        "inputs": dict(zip(bench.contract.inputs, parts)),
        "parameters": bench.layout.write(canonical, heads),
    }


def _follow(
    bench: Bench, case: Case, problem: Problem, cotangent: Array, got: Named[Array | None]
) -> Finding:
    """Judge by slopes along random directions, with the mistakes charged elsewhere made.

    The definition's own backward pass knows the right steps only; differences of its forward
    pass know them all.
    """
    steps = bench.steps(bench.charged_elsewhere(case))
    rng = bench.rng(case)
    values = movable(bench, problem)
    for key, array in got.items():
        if key in values and (array is None or array.shape != values[key].shape):
            return failed("gradient.missing", name=key[1])
    for _ in range(DIRECTIONS):
        ahead, behind, slope = _move(bench, problem, values, got, rng)
        ends = [(p.work_out(steps).output * cotangent).sum() for p in (ahead, behind)]
        wanted = (ends[0] - ends[1]) / (2 * STEP)
        if not abs(slope - wanted) <= 1e-3 * max(1.0, abs(wanted)):
            return failed("gradient.slope", got=f"{slope:.4g}", expected=f"{wanted:.4g}")
    return Finding(1.0, Message("followed", {"mistake": bench.carried[-1].id}))


def _move(
    bench: Bench,
    problem: Problem,
    values: Named[Array],
    got: Named[Array | None],
    rng: np.random.Generator,
) -> tuple[Problem, Problem, float]:
    """The problem a small step ahead and behind, and the slope that the gradients claim."""
    moved = {key: rng.normal(size=values[key].shape) for key in got if key in values}
    with np.errstate(all="ignore"):
        slope = sum(float((_known(got[key]) * way).sum()) for key, way in moved.items())
    ahead, behind = (shift(bench, problem, values, (one, moved)) for one in (STEP, -STEP))
    return ahead, behind, slope


def movable(bench: Bench, problem: Problem) -> Named[Array]:
    """Inputs by the contract's names, parameters by the candidate's: what gradients are of."""
    assert bench.layout is not None
    theta = bench.layout.write(problem.weights, problem.sizes.num_heads)
    inputs = {("inputs", n): x for n, x in zip(bench.contract.inputs, problem.inputs)}
    return inputs | {("parameters", name): array for name, array in theta.items()}


def shift(
    bench: Bench, problem: Problem, values: Named[Array], *moves: tuple[float, Named[Array]]
) -> Problem:
    """The problem some way along each of these directions; `values` are what is `movable`."""
    assert bench.layout is not None
    values = dict(values)
    for step, along in moves:
        values |= {key: values[key] + step * way for key, way in along.items()}
    inputs = tuple(values["inputs", name] for name in bench.contract.inputs)
    theta = {name: array for (of, name), array in values.items() if of == "parameters"}
    weights = bench.layout.read(theta, problem.sizes.num_heads)
    return replace(problem, inputs=inputs, weights=weights)


def _known(gradient: Array | None) -> Array:
    return np.full((), np.nan) if gradient is None else gradient
