"""Checks that need no expected values: what must not matter, and what empty inputs give."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from grader.bank.bench import Bench
from grader.bank.comparison import compare
from grader.bank.findings import PASSED, Finding, failed, letters, trouble
from grader.bank.problem import Problem
from grader.calling import NotOfferedError
from grader.model import Array, Case, Observation, Status

LOUD = 1000.0
AXES = {"batch": "batch", "q_len": "queries", "kv_len": "keys"}


def keeps_samples_apart(bench: Bench, case: Case, mask: Mapping[str, str] | None = None) -> Finding:
    """With one sample made a thousand times larger, all others come out as they were."""
    problem = bench.draw(case, {"batch": 3}, mask=mask)
    louder = np.array([1.0, LOUD, 1.0])[:, None, None]
    changed = replace(problem, inputs=tuple(x * louder for x in problem.inputs))
    seen = _both(bench, problem, changed)
    rows = np.arange(problem.sizes.q_len)
    found = trouble(seen) or _same(bench, problem, seen, rows, samples=[0, 2])
    return found or PASSED


def follows_permutations(
    bench: Bench, case: Case, mask: Mapping[str, str] | None = None
) -> Finding:
    """Exchanging the tokens of x exchanges the outputs; of keys and values, changes nothing."""
    problem = bench.draw(case, mask=mask)
    order = np.roll(np.arange(problem.sizes.kv_len)[::-1], 1)
    seen = _both(bench, problem, _permute(bench, problem, order))
    alone = len(problem.inputs) == 1
    rows = order if alone else np.arange(problem.sizes.q_len)
    found = trouble(seen) or _same(bench, problem, seen, rows)
    return found or PASSED


def takes_empty_inputs(bench: Bench, case: Case, axes: list[str]) -> Finding:
    """No samples, or no tokens, give an empty answer; no keys, the projection of zero.

    torch itself refuses some ways to reshape or to reduce nothing, and a file that raises there is
    not wrong: what is judged is an answer that does come back.
    """
    base = bench.draw(case)
    problems = [bench.draw(case, {axis: 0}).with_weights_of(base) for axis in axes]
    seen = bench.run(bench.probe(base, calls=tuple(bench.call(p) for p in problems)))
    judged = 0
    for number, (axis, problem) in enumerate(zip(axes, problems)):
        alone = seen if seen.status is Status.OK else bench.run(bench.probe(problem))
        if alone.status is Status.RAISED:
            continue
        judged += 1
        call = number if seen.status is Status.OK else 0
        found = trouble(alone) or compare(bench, case, problem, alone, call, named=False)
        if found.credit == 1.0:
            found = _shaped(bench, problem, alone, call) or found
        if found.credit < 1.0:
            return failed("shape.empty", axis=AXES[axis], inner=found.message)
    if not judged:
        raise NotOfferedError("empty")
    return PASSED


def _shaped(bench: Bench, problem: Problem, seen: Observation, call: int) -> Finding | None:
    """What is wrong with the weights' shape, if a file that returns weights does not here."""
    weights = bench.answer(seen, call).weights
    expected = problem.truth.weights.shape
    if bench.plan.weights is None or (weights is not None and weights.ndim < len(expected)):
        return None
    if weights is not None and weights.shape == expected:
        return None
    got = "nothing" if weights is None else letters(weights.shape)
    return failed("shape.differs", what="weights", got=got, expected=letters(expected))


def _permute(bench: Bench, problem: Problem, order: Array) -> Problem:
    """Tokens of the only sequence, or of keys and values, in another order; the mask with them."""
    alone = len(problem.inputs) == 1
    inputs = tuple(x[:, order] if alone or i else x for i, x in enumerate(problem.inputs))
    mask = problem.mask
    if mask is not None and mask.shape[-1] > 1:
        mask = mask[..., order]
    by_query = alone and bench.contract.mask == "attention" and mask is not None and mask.ndim > 1
    if by_query and mask is not None and mask.shape[-2] > 1:
        mask = mask[..., order, :]
    return replace(problem, inputs=inputs, mask=mask)


def _both(bench: Bench, problem: Problem, changed: Problem) -> Observation:
    return bench.run(bench.probe(problem, calls=(bench.call(problem), bench.call(changed))))


def _same(
    bench: Bench,
    problem: Problem,
    seen: Observation,
    rows: Array,
    samples: list[int] | None = None,
) -> Finding | None:
    """What is wrong, unless these samples of the second output are those rows of the first."""
    before, after = bench.answer(seen, 0).output, bench.answer(seen, 1).output
    shape = problem.inputs[0].shape
    if before is None or after is None or before.shape != shape or after.shape != shape:
        return failed("mask.no-output")
    chosen = list(range(shape[0])) if samples is None else samples
    with np.errstate(all="ignore"):
        off = np.abs(after - before[:, rows])[chosen]
    scale = np.abs(before[np.isfinite(before)]).max(initial=1.0)
    wrong = ~(off <= 1e-6 * scale)
    if not wrong.any():
        return None
    sample, query, _ = np.argwhere(wrong)[0]
    index = letters([chosen[int(sample)], int(query)])
    return failed("values.mixed" if samples else "values.unordered", index=index)
