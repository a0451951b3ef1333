"""Checks on heads of a size of their own, and on heads that share their keys and values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from grader.bank.bench import Bench
from grader.bank.checks.values import compare
from grader.bank.draw import Problem
from grader.bank.findings import Finding, trouble
from grader.calling import NotOfferedError
from grader.model import Case, Observation, Status
from grader.variations import share_heads


def takes_its_own_head_size(bench: Bench, case: Case, sizes: Mapping[str, int]) -> Finding:
    """Heads that are not d_model / num_heads wide, where the constructor takes a size for them.

    A file that refuses says so itself; where values have a size of their own it has to run.
    """
    apart = bench.plan.takes("value_dim")
    kept = {key: size for key, size in sizes.items() if apart or key != "value_dim"}
    problem = bench.draw(case, kept)
    seen = _run(bench, problem, "head-size")
    if seen.status is Status.RAISED and not apart:
        raise NotOfferedError("head-size")
    return trouble(seen) or compare(bench, case, problem, seen)


def shares_key_heads(bench: Bench, case: Case, sizes: Mapping[str, int]) -> Finding:
    """Fewer heads of keys and values than of queries; neighbours share one, or those in turn."""
    if bench.layout is None or not bench.layout.can_group():
        raise NotOfferedError("grouped")
    problem = bench.draw(case, sizes)
    seen = _run(bench, problem, "grouped")
    found = trouble(seen) or compare(bench, case, problem, seen)
    if found.credit < 1.0 and seen.status is Status.OK:
        heads = problem.sizes.num_heads, problem.sizes.kv_heads
        in_turn = replace(problem, weights=share_heads(problem.weights, *heads, in_turn=True))
        other = compare(bench, case, in_turn, seen, named=False)
        return other if other.credit == 1.0 else found
    return found


def _run(bench: Bench, problem: Problem, what: str) -> Observation:
    """What comes back; NotOfferedError where the constructor refuses, or means something else."""
    probe = bench.probe(problem)._replace(describe=True)
    seen = bench.run(probe)
    if seen.fault is not None and seen.fault.phase == "construct":
        raise NotOfferedError(what)
    shapes = {parameter.name: parameter.shape for parameter in seen.parameters}
    if any(shapes.get(name) != array.shape for name, array in probe.weights.items()):
        raise NotOfferedError(what)
    return seen
