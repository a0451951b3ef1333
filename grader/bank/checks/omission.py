"""A check on sequences that forward has a default for."""

from __future__ import annotations

from dataclasses import replace

from grader.bank.bench import Bench
from grader.bank.comparison import compare
from grader.bank.findings import PASSED, Finding, failed, trouble
from grader.calling.omission import leave_out, may_be_left_out
from grader.model import Case, Status

SQUARE = {"q_len": 5, "kv_len": 5}


def takes_itself_for_what_is_left_out(bench: Bench, case: Case) -> Finding:
    """Without keys and values it is self-attention; with keys alone, these are the values too.

    The first may be causal where attention to another sequence is not. A file that raises there
    needs what it has a default for, and is excused.
    """
    plan = leave_out(bench.plan)
    inputs = tuple(plan.sequences) if len(plan.sequences) > 1 else ("x",)
    plain = replace(bench.contract, inputs=inputs)
    alone = replace(bench, remembered={}, plan=plan, contract=plain, carried=list(bench.carried))
    found = _compare(alone, case)
    if found.credit < 1.0 and len(inputs) == 1:
        causal = replace(alone, contract=replace(plain, causal=True))
        found = max(found, _compare(causal, case), key=lambda one: one.credit)
    if found.credit == 1.0:
        return PASSED
    names = ", ".join(str(slot.name) for slot in may_be_left_out(bench.plan))
    return failed("shape.left-out", names=names, inner=found.message)


def _compare(bench: Bench, case: Case) -> Finding:
    problem = bench.draw(case, SQUARE)
    seen = bench.run(bench.probe(problem))
    if seen.status is Status.RAISED:
        return PASSED
    return trouble(seen) or compare(bench, case, problem, seen, named=False)
