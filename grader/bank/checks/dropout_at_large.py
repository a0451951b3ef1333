"""Checks on dropout that need not know where in the module it acts."""

from __future__ import annotations

from typing import Any

import numpy as np

from grader.bank.bench import Bench
from grader.bank.findings import PASSED, Finding, failed, trouble
from grader.calling import NotOfferedError
from grader.model import Case

MANY = {"batch": 1024, "q_len": 3, "kv_len": 4, "d_model": 6, "num_heads": 2}
DEVIATIONS = 8.0
STEP = 1e-3


def averages_to_eval(bench: Bench, case: Case, probability: float) -> Finding:
    """In training no two samples are alike, and their mean is what eval gives.

    All samples have the same input. Wherever dropout acts after the softmax the output is linear
    in it, so with kept values scaled by 1 / (1 - p) the mean over many samples is the output
    without it. By Bernstein's bound a right file is this far off in fewer than one run of a
    million.
    """
    if not bench.plan.has_dropout:
        raise NotOfferedError("dropout")
    problem = bench.draw(case, MANY, expanded=True)
    options: dict[str, Any] = {"dropout": probability, "train": True, "seed": bench.seed & 0xFFFF}
    calls = (bench.call(problem), bench.call(problem))
    seen = bench.run(bench.probe(problem, calls=calls, **options))
    found = trouble(seen)
    if found is not None:
        return found
    output, again = bench.answer(seen).output, bench.answer(seen, 1).output
    expected = bench.expect(case, problem).output
    if output is None or output.shape != expected.shape or not np.isfinite(output).all():
        return failed("dropout.no-output")
    spread = output.std(axis=0)
    if (spread.max(axis=-1) < STEP * np.abs(expected[0]).max()).any():
        return failed("dropout.never-on", probability=probability)
    if again is not None and np.array_equal(output, again):
        return failed("dropout.repeats")
    off = np.abs(output.mean(axis=0) - expected[0])
    far = off > DEVIATIONS * spread / np.sqrt(len(output)) + STEP * np.abs(expected[0]).max()
    return failed("dropout.mean", probability=probability) if far.any() else PASSED
