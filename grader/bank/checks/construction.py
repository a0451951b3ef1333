"""Checks on the constructor."""

from __future__ import annotations

import math
from collections.abc import Mapping

from grader.bank.bench import Bench
from grader.bank.findings import PASSED, Finding, failed, trouble
from grader.model import Case, Message, Observation, Parameter, Status


def constructs(bench: Bench, case: Case, d_model: int, num_heads: int) -> Finding:
    """The class can be built for sizes that divide."""
    return trouble(_build(bench, d_model, num_heads)) or PASSED


def raises_for_indivisible(
    bench: Bench, case: Case, d_model: int, num_heads: int, any_exception: bool = False
) -> Finding:
    """ValueError in the constructor; another exception there is worth half, or all.

    What a module built all the same does with d_model is told, for the one who wonders.
    """
    seen = _build(bench, d_model, num_heads)
    sizes = {"d_model": d_model, "num_heads": num_heads}
    fault = seen.fault
    if seen.status is Status.RAISED and fault is not None:
        if "ValueError" in fault.bases:
            return PASSED
        fields = {**sizes, "type": fault.type, "line": fault.line}
        if any_exception:
            return PASSED
        return Finding(0.5, Message("divisibility.other-exception", fields))
    found = trouble(seen)
    if found is not None:
        return found
    problem = bench.draw(case, {"d_model": d_model, "num_heads": num_heads})
    after = bench.run(bench.unloaded(problem))
    if after.status is Status.RAISED and after.fault is not None:
        return failed("divisibility.only-in-forward", **sizes, type=after.fault.type)
    output = bench.answer(after).output if after.status is Status.OK else None
    if output is not None and output.shape[-1] != d_model:
        return failed("divisibility.floored", **sizes, width=output.shape[-1])
    cut = num_heads * (d_model // num_heads)
    # What one head, or all of them, of one projection or several can hold.
    kept = {times * d_model for times in (d_model // num_heads, cut, 2 * cut, 3 * cut)}
    if cut and any(math.prod(p.shape) in kept for p in _parameters(bench, sizes)):
        return failed("divisibility.cut", **sizes, width=cut)
    return failed("divisibility.accepted", **sizes)


def raises_for_drawn_pairs(bench: Bench, case: Case, any_exception: bool = False) -> Finding:
    """The same for pairs nobody can know beforehand: odd and even head counts, every remainder."""
    rng = bench.rng(case)
    for num_heads in (3, 4, 5, 7):
        for remainder in {1, num_heads - 1, int(rng.integers(1, num_heads))}:
            d_model = num_heads * int(rng.integers(1, 9)) + remainder
            found = raises_for_indivisible(bench, case, d_model, num_heads, any_exception)
            if found.credit < 1.0:
                return found
    # Fewer dimensions than heads is indivisible too.
    d_model, num_heads = int(rng.integers(2, 6)), int(rng.integers(6, 9))
    return raises_for_indivisible(bench, case, d_model, num_heads, any_exception)


def _parameters(bench: Bench, sizes: Mapping[str, int]) -> tuple[Parameter, ...]:
    return bench.run(bench.build(**sizes)._replace(describe=True)).parameters


def _build(bench: Bench, d_model: int, num_heads: int) -> Observation:
    return bench.run(bench.build(d_model, num_heads))
