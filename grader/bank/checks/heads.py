"""Checks on heads of a size of their own, and on heads that share their keys and values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from grader.bank.bench import Bench
from grader.bank.comparison import compare
from grader.bank.findings import PASSED, Finding, failed, letters, trouble
from grader.bank.problem import Problem
from grader.calling import NotOfferedError
from grader.model import Case, Observation, Status
from grader.variations import share_heads

PAIRS = (("Wk", "bk"), ("Wv", "bv"))


def takes_its_own_head_size(bench: Bench, case: Case, sizes: Mapping[str, int]) -> Finding:
    """Heads that are not d_model / num_heads wide, where the constructor takes a size for them.

    A file that refuses says so itself; where values have a size of their own it has to run.
    """
    fused = bench.layout is not None and bench.layout.is_fused
    apart = bench.plan.takes("value_dim") and not fused
    kept = {key: size for key, size in sizes.items() if apart or key != "value_dim"}
    problem = bench.draw(case, kept)
    seen, misshapen = _run(bench, problem, "head-size")
    if not apart and (misshapen or seen.status is Status.RAISED):
        raise NotOfferedError("head-size")
    # Where keys and values are not of one size, not every mistake can be made.
    return trouble(seen) or misshapen or compare(bench, case, problem, seen, named=not apart)


def shares_key_heads(bench: Bench, case: Case, sizes: Mapping[str, int]) -> Finding:
    """Fewer heads of keys and values than of queries; neighbours share one, or those in turn."""
    if bench.layout is None or not bench.layout.can_group():
        raise NotOfferedError("grouped")
    problem = bench.draw(case, sizes)
    seen, misshapen = _run(bench, problem, "grouped")
    if misshapen:
        raise NotOfferedError("grouped")
    found = trouble(seen) or compare(bench, case, problem, seen)
    if found.credit < 1.0 and seen.status is Status.OK:
        heads = problem.sizes.num_heads, problem.sizes.kv_heads
        turned = share_heads(problem.weights, *heads, in_turn=True)
        keys, values = ({name: getattr(turned, name) for name in pair} for pair in PAIRS)

        def is_meant(change: Mapping[str, Any]) -> bool:
            weights = replace(problem.weights, **change)
            meant = replace(problem, weights=weights)
            return compare(bench, case, meant, seen, named=False).credit == 1.0

        if is_meant(keys | values):
            return PASSED
        if is_meant(keys) or is_meant(values):
            return failed("heads.two-orders")
    return found


def _run(bench: Bench, problem: Problem, what: str) -> tuple[Observation, Finding | None]:
    """What comes back, and what is wrong with the shapes of parameters, which are ours by then.

    Raises NotOfferedError where the constructor refuses.
    """
    probe = bench.probe(problem)._replace(describe=True)
    seen = bench.run(probe)
    if seen.fault is not None and seen.fault.phase == "construct":
        raise NotOfferedError(what)
    shapes = {parameter.name: parameter.shape for parameter in seen.parameters}
    for name, array in probe.weights.items():
        if shapes.get(name, array.shape) != array.shape:
            fields = {"got": letters(shapes[name]), "expected": letters(array.shape)}
            return seen, failed("shape.parameter", name=name, **fields)
    return seen, None
