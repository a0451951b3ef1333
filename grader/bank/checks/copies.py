"""Checks on modules that are copied, pickled, loaded or trained between two calls."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from grader.bank.bench import Bench
from grader.bank.comparison import compare
from grader.bank.findings import PASSED, Finding, describe_trouble, failed, trouble
from grader.calling import NotOfferedError
from grader.model import Case, Fault, Observation, Status

# The problem that all of these share: so it is posed, sent and worked out once.
PROBLEM = "copies"
# Where something lies in memory, which is somewhere else in each run.
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def survives_deepcopy(bench: Bench, case: Case) -> Finding:
    """A deep copy answers as the module did, whatever then becomes of the module's weights.

    A file that cannot be copied says so itself, and the contract asks for no copies.
    """
    problem = bench.draw(PROBLEM)
    calls = (bench.call(problem),) * 2
    seen = bench.run(bench.probe(problem, calls=calls, between="deepcopy"))
    if raised_in(seen, "deepcopy"):
        raise NotOfferedError("deepcopy")
    found = trouble(seen) or compare(bench, case, problem, seen)
    if found.credit < 1.0:
        return found
    copied = compare(bench, case, problem, seen, 1, named=False)
    return copied if copied.credit == 1.0 else failed("state.copy-leans")


def survives_pickling(bench: Bench, case: Case) -> Finding:
    """What comes back of a pickled module answers as the module did.

    A file that cannot be pickled says so itself: a lambda, a class made in a function.
    """
    problem = bench.draw(PROBLEM)
    calls = (bench.call(problem),) * 2
    seen = bench.run(bench.probe(problem, calls=calls, between="pickle"))
    excuse(seen, "pickle")
    if raised_in(seen, "forward"):
        return failed("state.pickle-broken", inner=describe_trouble(seen))
    back = trouble(seen) or compare(bench, case, problem, seen, 1, named=False)
    if back.credit == 1.0 or seen.status is not Status.OK:
        return back
    before = compare(bench, case, problem, seen)
    return before if before.credit < 1.0 else failed("state.pickle-differs")


def loads_its_state_dict(bench: Bench, case: Case) -> Finding:
    """A second module that was in use and then loads the first one's state_dict answers like it."""
    problem = bench.draw(PROBLEM)
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
    if _repeats(bench, seen):
        return PASSED
    # Without any training in between: what is drawn in eval differs too, and is nothing kept.
    seen = bench.run(bench.probe(problem, calls=calls, watch=True, **options))
    if trouble(seen) is None and "random state" in seen.turned and not _repeats(bench, seen):
        return failed("dropout.differs-in-eval")
    return failed("state.changed-by-training", probability=probability)


def _repeats(bench: Bench, seen: Observation) -> bool:
    before, after = bench.answer(seen, 0).output, bench.answer(seen, 1).output
    if before is None or after is None:
        return False
    return np.array_equal(before, after, equal_nan=True)


def raised_in(seen: Observation, phase: str) -> Fault | None:
    """What was raised there, if anything was."""
    fault = seen.fault if seen.status is Status.RAISED else None
    return fault if fault is not None and fault.phase == phase else None


def excuse(seen: Observation, phase: str) -> None:
    """Where this was raised, NotOfferedError with what it said: no contract asks for it."""
    fault = raised_in(seen, phase)
    if fault is not None:
        raise NotOfferedError(phase, type=fault.type, text=ADDRESS.sub("", fault.text))
