"""Checks on the backward pass."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from grader.bank.bench import Bench
from grader.bank.draw import Problem
from grader.bank.findings import PASSED, Finding, failed, letters, trouble
from grader.definition import Gradients, differentiate
from grader.layout.elements import SHARED
from grader.model import Array, Case, Message
from grader.variations import total_heads

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
    options: dict[str, Any] = {"train": True, "dropout": 0.0} if train else {}
    options["plain_inputs"] = plain_inputs
    probe = bench.probe(problem, cotangent=cotangent, **options)
    seen = bench.remember(name, lambda: bench.run(probe))
    found = trouble(seen)
    if found is not None:
        return found
    by_input = of == "inputs"
    got = bench.input_gradients(seen) if by_input else dict(seen.parameter_gradients)
    if bench.charged_elsewhere(case):
        return _follow(bench, case, problem, cotangent, got)
    expected = expect(bench, problem, cotangent, of)
    scale = max(np.abs(array).max(initial=0.0) for array in expected.values())
    for name, wanted in expected.items():
        array = got.get(name)
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


def expect(bench: Bench, problem: Problem, cotangent: Array, of: str) -> dict[str, Array]:
    """The definition's gradients under the candidate's own names."""
    cotangent = problem.right.blank(cotangent, problem.visible)
    gradients = differentiate(
        problem.weights, *problem.attended, problem.truth, cotangent, steps=problem.right
    )
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
    canonical = replace(problem.weights, **gradients.weights)
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
    bench: Bench, case: Case, problem: Problem, cotangent: Array, got: dict[str, Array | None]
) -> Finding:
    """Judge by slopes along random directions, with the mistakes charged elsewhere made.

    The definition's own backward pass knows the right steps only; differences of its forward
    pass know them all.
    """
    steps = bench.steps(bench.charged_elsewhere(case))
    rng = bench.rng(case)
    values = movable(bench, problem)
    for name in got:
        array = got[name]
        if name in values and (array is None or array.shape != values[name].shape):
            return failed("gradient.missing", name=name)
    for _ in range(DIRECTIONS):
        ahead, behind, slope = _move(bench, problem, got, rng)
        ends = [(p.expect(steps).output * cotangent).sum() for p in (ahead, behind)]
        wanted = (ends[0] - ends[1]) / (2 * STEP)
        if not abs(slope - wanted) <= 1e-3 * max(1.0, abs(wanted)):
            return failed("gradient.slope", got=f"{slope:.4g}", expected=f"{wanted:.4g}")
    return Finding(1.0, Message("followed", {"mistake": bench.carried[-1].id}))


def _move(
    bench: Bench, problem: Problem, got: dict[str, Array | None], rng: np.random.Generator
) -> tuple[Problem, Problem, float]:
    """The problem a small step ahead and behind, and the slope that the gradients claim."""
    values = movable(bench, problem)
    moved = {name: rng.normal(size=values[name].shape) for name in got if name in values}
    with np.errstate(all="ignore"):
        slope = sum(float((_known(got[name]) * d).sum()) for name, d in moved.items())
    return shift(bench, problem, (STEP, moved)), shift(bench, problem, (-STEP, moved)), slope


def movable(bench: Bench, problem: Problem) -> dict[str, Array]:
    """Inputs by the contract's names, parameters by the candidate's: what gradients are of."""
    assert bench.layout is not None
    theta = bench.layout.write(problem.weights, problem.sizes.num_heads)
    return dict(zip(bench.contract.inputs, problem.inputs)) | theta


def shift(bench: Bench, problem: Problem, *moves: tuple[float, Mapping[str, Array]]) -> Problem:
    """The problem some way along each of these directions, which are given by name."""
    assert bench.layout is not None
    values = movable(bench, problem)
    for step, along in moves:
        values |= {name: values[name] + step * way for name, way in along.items()}
    inputs = tuple(values[name] for name in bench.contract.inputs)
    weights = bench.layout.read(values, problem.sizes.num_heads)
    return replace(problem, inputs=inputs, weights=weights)


def _known(gradient: Array | None) -> Array:
    return np.full((), np.nan) if gradient is None else gradient
