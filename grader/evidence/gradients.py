"""The gradients of one small problem, each beside what it should be."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from grader.bank.bench import Bench
from grader.bank.checks.gradients import TOLERANCES, Named, expect, gradients_seen
from grader.calling import NotOfferedError
from grader.evidence.grids import to_number
from grader.model import Array, Status
from grader.model.evidence import Slope

ALLOWED = TOLERANCES["float64"]
# A module may have a parameter for each head of each projection.
MOST = 40


def see_gradients(bench: Bench) -> tuple[Slope, ...]:
    """One for each input and each parameter that is read; () where the backward pass fails."""
    problem = bench.draw("picture gradients")
    cotangent = bench.rng("picture gradients").normal(size=problem.inputs[0].shape)
    try:
        seen = bench.run(bench.probe(problem, cotangent=cotangent))
    except NotOfferedError:
        return ()
    if seen.status is not Status.OK:
        return ()
    got = gradients_seen(bench, seen)
    wanted = {
        (of, name): array
        for of in ("inputs", "parameters")
        for name, array in expect(bench, problem, cotangent, of).items()
    }
    return tuple(_compare(got, wanted))[:MOST]


def _compare(got: Named[Array | None], wanted: Named[Array]) -> Iterator[Slope]:
    scale = max(_largest(array) for array in wanted.values()) or 1.0
    for (of, name), expected in wanted.items():
        found = got.get((of, name))
        size = to_number(_largest(expected)) or 0.0
        if found is None or found.shape != expected.shape or not np.isfinite(found).all():
            yield Slope(name, size, None, None)
        else:
            error = to_number(_largest(found - expected) / scale)
            yield Slope(name, size, to_number(_largest(found)), error)


def _largest(array: Array) -> float:
    return float(np.abs(array).max(initial=0.0))
