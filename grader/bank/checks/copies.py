"""Checks on modules that are copied, loaded or trained between two calls."""

from __future__ import annotations

from typing import Any

import numpy as np

from grader.bank.bench import Bench
from grader.bank.checks.values import compare
from grader.bank.findings import PASSED, Finding, failed, trouble
from grader.calling import NotOfferedError
from grader.model import Case, Status


def survives_deepcopy(bench: Bench, case: Case) -> Finding:
    """A deep copy answers as the module did, whatever then becomes of the module's weights.

    A file that cannot be copied says so itself, and the contract asks for no copies.
    """
    problem = bench.draw(case)
    calls = (bench.call(problem),) * 2
    seen = bench.run(bench.probe(problem, calls=calls, between="deepcopy"))
    if seen.status is Status.RAISED and seen.fault and seen.fault.phase == "deepcopy":
        raise NotOfferedError("deepcopy")
    found = trouble(seen) or compare(bench, case, problem, seen)
    if found.credit < 1.0:
        return found
    copied = compare(bench, case, problem, seen, 1, named=False)
    return copied if copied.credit == 1.0 else failed("state.copy-leans")


def loads_its_state_dict(bench: Bench, case: Case) -> Finding:
    """A second module that was in use and then loads the first one's state_dict answers like it."""
    problem = bench.draw(case)
    calls = (bench.call(problem),) * 2
    seen = bench.run(bench.probe(problem, calls=calls, between="state-dict"))
    found = trouble(seen) or compare(bench, case, problem, seen)
    if found.credit < 1.0:
        return found
    loaded = compare(bench, case, problem, seen, 1, named=False)
    return loaded if loaded.credit == 1.0 else failed("state.not-loaded")


def survives_training(bench: Bench, case: Case, probability: float) -> Finding:
    """Eval after calls in training mode gives exactly what eval gave before."""
    problem = bench.draw(case)
    calls = (bench.call(problem),) * 2
    options: dict[str, Any] = {"dropout": probability} if bench.plan.has_dropout else {}
    seen = bench.run(bench.probe(problem, calls=calls, between="training", **options))
    found = trouble(seen)
    if found is not None:
        return found
    before, after = bench.answer(seen, 0).output, bench.answer(seen, 1).output
    if before is None or after is None or not np.array_equal(before, after, equal_nan=True):
        return failed("state.changed-by-training", probability=probability)
    return PASSED
