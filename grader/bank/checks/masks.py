"""Checks on what a mask must keep out, by changing it and looking for a trace.

A constant output would pass them, so in the bank they come after a case that compares values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from grader.bank.bench import Bench
from grader.bank.findings import PASSED, Finding, failed, letters, trouble
from grader.bank.problem import Problem
from grader.model import Array, Case


def ignores_future(
    bench: Bench, case: Case, mask: Mapping[str, str] | None = None, position: int = 3
) -> Finding:
    """Changing the tokens from `position` on leaves the outputs before it as they were.

    Both sequences end together: with more keys than queries, the first query is a later token.
    """
    problem = bench.draw(case, mask=mask)
    q_len, kv_len = problem.sizes.q_len, problem.sizes.kv_len
    changed = _change(bench, case, problem, np.arange(kv_len) >= position)
    before = np.arange(q_len) + kv_len - q_len < position
    return _same(bench, problem, changed, before, "future")


def ignores_hidden(bench: Bench, case: Case, mask: Mapping[str, str]) -> Finding:
    """Changing hidden keys and values leaves the output of every real query as it was."""
    problem = bench.draw(case, mask=mask)
    assert problem.mask is not None
    shown = problem.mask.reshape(problem.sizes.batch, -1, problem.sizes.kv_len)[:, -1]
    changed = _change(bench, case, problem, ~shown)
    queries = shown if len(problem.inputs) == 1 else np.ones(problem.inputs[0].shape[:2], bool)
    return _same(bench, problem, changed, queries, "hidden")


def first_query_sees_itself(bench: Bench, case: Case) -> Finding:
    """Under a causal mask the first query gives its whole weight to the first key."""
    mask = None if bench.contract.causal else {"kind": "causal", "form": "q k"}
    problem = bench.draw(case, mask=mask)
    seen = bench.run(bench.probe(problem))
    found = trouble(seen)
    if found is not None:
        return found
    answer = bench.answer(seen)
    expected = bench.expect(case, problem)
    if answer.weights is not None and answer.weights.shape == expected.weights.shape:
        row = answer.weights[0, 0, 0]
        wanted = expected.weights[0, 0, 0]
    elif answer.output is not None and answer.output.shape == expected.output.shape:
        row, wanted = answer.output[0, 0], expected.output[0, 0]
    else:
        return failed("mask.no-first-row")
    if bool((np.abs(row - wanted) <= 1e-6 * np.abs(wanted).max()).all()):
        return PASSED
    return failed("mask.first-row", got=_short(row), expected=_short(wanted))


def _change(bench: Bench, case: Case, problem: Problem, where: Array) -> Problem:
    """The same problem with new tokens where the bool array [k] or [b, k] says so."""
    rng = np.random.default_rng(bench.seed ^ 0x5EED)
    tokens = [x + 3.0 * rng.normal(size=x.shape) for x in problem.inputs]
    mask = np.broadcast_to(where, problem.inputs[-1].shape[:2])[..., None]
    # Of several sequences the first is the queries', which stay.
    first = len(problem.inputs) > 1
    mixed = [
        old if first and i == 0 else np.where(mask, new, old)
        for i, (old, new) in enumerate(zip(problem.inputs, tokens))
    ]
    return replace(problem, inputs=tuple(mixed))


def _same(bench: Bench, problem: Problem, changed: Problem, queries: Array, what: str) -> Finding:
    """Both outputs agree for the queries that the bool array [q] or [b, q] marks."""
    seen = bench.run(bench.probe(problem, calls=(bench.call(problem), bench.call(changed))))
    found = trouble(seen)
    if found is not None:
        return found
    before, after = bench.answer(seen, 0).output, bench.answer(seen, 1).output
    shape = problem.inputs[0].shape
    if before is None or after is None or before.shape != shape or after.shape != shape:
        return failed("mask.no-output")
    kept = np.broadcast_to(queries, shape[:2])
    scale = np.abs(before[np.isfinite(before)]).max(initial=1.0)
    with np.errstate(all="ignore"):
        moved = ~(np.abs(after - before) <= 1e-6 * scale)
    wrong = moved.any(axis=-1) & kept
    if not wrong.any():
        return PASSED
    index = np.argwhere(wrong)[0]
    return failed(f"mask.{what}-leaks", index=letters([int(i) for i in index]))


def _short(row: Array) -> str:
    return "[" + ", ".join(f"{value:.3g}" for value in row[:6]) + "]"
