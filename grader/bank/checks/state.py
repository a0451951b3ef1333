"""Checks on what a module keeps, changes and registers."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from grader.bank.bench import PASSED, Bench, Finding, failed, trouble
from grader.bank.checks.values import compare
from grader.model import Case, Input, Status


def keeps_no_state(bench: Bench, case: Case, mask: Mapping[str, str] | None = None) -> Finding:
    """A call in between, of other sizes or with a mask, changes nothing."""
    problem = bench.draw(case)
    other = (
        bench.draw(case, {"batch": 3, "q_len": 4, "kv_len": 6})
        if mask is None
        else bench.draw(case, mask=mask)
    )
    calls = (bench.call(problem), bench.call(other), bench.call(problem))
    seen = bench.run(bench.probe(problem, calls=calls))
    found = trouble(seen)
    if found is not None:
        return found
    first, third = bench.answer(seen, 0).output, bench.answer(seen, 2).output
    if first is None or third is None or not np.array_equal(first, third, equal_nan=True):
        return failed("state.kept")
    return compare(bench, case, problem, seen, 2)


def leaves_inputs_unchanged(bench: Bench, case: Case, mask: Mapping[str, str]) -> Finding:
    """Inputs and mask hold after the call what they held before."""
    problem = bench.draw(case, mask=mask)
    seen = bench.run(bench.probe(problem, return_inputs=True))
    found = trouble(seen)
    if found is not None:
        return found
    names = (*bench.contract.inputs, "mask")
    given = [i for i in bench.call(problem) if isinstance(i, Input)]
    for name, before, after in zip(names, given, seen.returned[0].after):
        if after is None or not np.array_equal(before.value, after):
            return failed("state.input-changed", name=name)
    return PASSED


def registers_parameters(bench: Bench, case: Case) -> Finding:
    """Every parameter is one that optimisers and state_dict see."""
    seen = bench.run(bench.probe(bench.draw(case), calls=()))
    found = trouble(seen)
    if found is not None:
        return found
    if not seen.parameters:
        return failed("state.no-parameters")
    hidden = [p.name for p in seen.parameters if not p.registered]
    return failed("state.unregistered", names=", ".join(hidden)) if hidden else PASSED


def uses_every_parameter(bench: Bench, case: Case) -> Finding:
    """Each parameter has a part in the output: some gradient reaches it.

    The key bias is the exception: softmax forgets it, in every right implementation.
    """
    problem = bench.draw(case)
    cotangent = bench.rng(case).normal(size=problem.inputs[0].shape)
    seen = bench.run(bench.probe(problem, cotangent=cotangent))
    found = trouble(seen)
    if found is not None:
        return found
    key = bench.layout.places["Wk"] if bench.layout else None
    spare = {key.bias} if key and key.fused == 1 else set()
    idle = [
        name
        for name, gradient in seen.parameter_gradients.items()
        if name not in spare and (gradient is None or not np.abs(gradient).max(initial=0.0) > 0)
    ]
    return failed("state.idle-parameter", names=", ".join(idle)) if idle else PASSED


def moves_with_dtype(bench: Bench, case: Case, dtype: str) -> Finding:
    """After `.to(dtype)` the module takes inputs of that dtype, its mask built in or given."""
    mask = None if bench.contract.causal else {"kind": "random", "form": "b 1 q k"}
    problem = bench.draw(case, dtype=dtype, mask=mask if bench.contract.mask != "padding" else None)
    unregistered = [
        p.name for p in bench.run(bench.probe(problem, calls=())).parameters if not p.registered
    ]
    if unregistered:
        return failed("state.stays-behind", names=", ".join(unregistered))
    return trouble(bench.run(bench.probe(problem))) or PASSED


def moves_with_device(bench: Bench, case: Case) -> Finding:
    """No tensor the module needs stays on the CPU when the module leaves it.

    Tried on torch's "meta" device. A failure counts only where a plain tensor attribute did stay
    behind: code that looks at values cannot run there and is not wrong for it.
    """
    problem = bench.draw(case)
    still = bench.run(bench.probe(problem, device="meta", calls=()))
    found = trouble(still)
    if found is not None or not still.stray:
        return PASSED
    seen = bench.run(bench.probe(problem, device="meta"))
    if seen.status is Status.RAISED and seen.fault is not None and "device" in seen.fault.text:
        names = ", ".join(still.stray)
        return failed("state.stays-behind", names=names)
    return PASSED


def uses_no_ready_made_attention(bench: Bench, case: Case) -> Finding:
    """No call of torch's own attention was seen, in eval and in training."""
    problem = bench.draw(case)
    for train in (False, True):
        seen = bench.run(bench.probe(problem, watch=True, train=train))
        if seen.ready_made:
            return failed("state.ready-made", names=", ".join(sorted(set(seen.ready_made))))
    return PASSED
