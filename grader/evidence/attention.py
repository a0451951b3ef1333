"""The attention weights of one small problem: as they should be, and as the file made them."""

from __future__ import annotations

import numpy as np

from grader.bank.bench import Bench
from grader.bank.problem import Problem
from grader.calling import NotOfferedError
from grader.evidence.grids import to_grid
from grader.model import Array, Observation, Status
from grader.model.evidence import Attention
from grader.trace.weights import find_weights

# By what a contract's mask says: masks with everything in them, rows that see nothing too.
MASKS = {
    "attention": {"kind": "dead", "form": "b 1 q k"},
    "padding": {"kind": "left-padding", "form": "b k"},
}
SAMPLE = 0
# Smaller than in cases: weights that are not all near 0 or 1 make a better picture.
GAIN = 0.9


def see_attention(bench: Bench) -> Attention | None:
    """One sample under a mask, or without one where the file takes none; None if it fails."""
    sequences = len(bench.contract.inputs)
    problem, seen = _run(bench)
    if seen.status is not Status.OK:
        return None
    got, line = find_weights(() if seen.cut else seen.trace, problem, sequences)
    if got is None:
        got = _returned(bench, seen, problem)
    expected = problem.truth.weights
    visible = None if problem.visible is None else np.broadcast_to(problem.visible, expected.shape)
    return Attention(
        tuple(map(to_grid, expected[SAMPLE])),
        () if got is None else tuple(map(to_grid, got[SAMPLE])),
        () if visible is None else tuple(_to_rows(head) for head in visible[SAMPLE]),
        line,
    )


def _run(bench: Bench) -> tuple[Problem, Observation]:
    mask = MASKS[bench.contract.mask]
    problem = bench.draw("picture", mask=mask, gain=GAIN)
    try:
        return problem, bench.run(bench.probe(problem, trace=True))
    except NotOfferedError:
        problem = bench.draw("picture", gain=GAIN)
        return problem, bench.run(bench.probe(problem, trace=True))


def _returned(bench: Bench, seen: Observation, problem: Problem) -> Array | None:
    """What the file itself says its weights were."""
    weights = bench.answer(seen).weights
    fits = weights is not None and weights.shape == problem.truth.weights.shape
    return weights if fits else None


def _to_rows(visible: Array) -> tuple[tuple[bool, ...], ...]:
    return tuple(tuple(bool(one) for one in row) for row in visible)
