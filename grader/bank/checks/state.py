"""Checks on what a module keeps, changes and registers."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from grader.bank.bench import Bench
from grader.bank.comparison import compare
from grader.bank.findings import PASSED, Finding, failed, trouble
from grader.bank.problem import Problem
from grader.calling import NotOfferedError
from grader.model import Call, Case, Input, Message, Observation, Status


def keeps_no_state(
    bench: Bench,
    case: Case,
    masks: list[Mapping[str, str]] | None = None,
    sizes: Mapping[str, int] | None = None,
    repeats: int = 1,
) -> Finding:
    """Calls of other sizes or under other masks change nothing, and each is right itself.

    The first call is made again at the end, and what it returned at first must still stand.
    """
    first = bench.draw(case)
    others = [bench.remask(case, first, m["kind"], m["form"]) for m in masks or ()]
    if not others:
        other = bench.draw(case, sizes or {"batch": 3, "q_len": 4, "kv_len": 6})
        others = [other.with_weights_of(first)] * repeats
    problems = [first, *others, first]
    calls = tuple(bench.call(problem) for problem in problems)
    seen = bench.run(bench.probe(first, calls=calls))
    found = trouble(seen)
    if found is not None:
        return found
    before, after = bench.answer(seen, 0).output, bench.answer(seen, len(calls) - 1).output
    if before is None or after is None or not np.array_equal(before, after, equal_nan=True):
        return failed("state.kept")
    findings = (compare(bench, case, p, seen, n) for n, p in enumerate(problems))
    return min(findings, key=lambda finding: finding.credit)


def survives_a_cast(bench: Bench, case: Case, mask: Mapping[str, str] | None = None) -> Finding:
    """A module used in float32 and then cast to float64 is right in float64."""
    problem = bench.draw(case, mask=mask, dtype="float32")
    exact = problem.once("float64", lambda: replace(problem, dtype="float64"))
    calls = (bench.call(problem), bench.call(exact))
    seen = bench.run(bench.probe(problem, calls=calls, recast="float64"))
    return trouble(seen) or compare(bench, case, exact, seen, 1)


def leaves_inputs_unchanged(
    bench: Bench, case: Case, mask: Mapping[str, str] | None = None
) -> Finding:
    """Inputs and mask hold after the call what they held before."""
    problem = bench.draw(case, mask=mask)
    seen = bench.run(bench.probe(problem, return_inputs=True))
    found = trouble(seen)
    if found is not None:
        return found
    names = itertools.chain(bench.inputs_in_call(), itertools.repeat("mask"))
    for name, before, after in zip(names, bench.call(problem), seen.returned[0].after):
        if not isinstance(before, Input):
            continue
        if after is None or not np.array_equal(before.value, after, equal_nan=False):
            return failed("state.input-changed", name=name)
    return PASSED


def registers_parameters(bench: Bench, case: Case) -> Finding:
    """Every parameter is one that optimisers and state_dict see."""
    seen = bench.run(bench.probe(bench.draw(case), describe=True))
    found = trouble(seen)
    if found is not None:
        return found
    if not seen.parameters:
        return failed("state.no-parameters")
    hidden = [p.name for p in seen.parameters if not p.registered]
    return failed("state.unregistered", names=", ".join(hidden)) if hidden else PASSED


def uses_every_parameter(bench: Bench, case: Case) -> Finding:
    """Each parameter belongs to a projection, and some gradient reaches it.

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
    # A norm that was told to let everything through has nothing to learn.
    spare |= bench.plan.norms | set(bench.plan.zeroed)
    idle = [
        name
        for name, gradient in seen.parameter_gradients.items()
        if name not in spare and (gradient is None or not np.abs(gradient).max(initial=0.0) > 0)
    ]
    if idle:
        return failed("state.idle-parameter", names=", ".join(idle))
    if bench.layout is None:
        return PASSED
    known = bench.layout.write(problem.weights, problem.sizes.num_heads)
    extra = [n for n in seen.parameter_gradients if n not in known and n not in spare]
    return failed("state.extra-parameter", names=", ".join(extra)) if extra else PASSED


def leaves_switches_alone(bench: Bench, case: Case) -> Finding:
    """Neither constructor nor forward turns a global switch of torch or draws random numbers."""
    seen = bench.run(bench.probe(bench.draw(case), watch=True))
    found = trouble(seen)
    if found is not None:
        return found
    return failed("state.turned", names=", ".join(seen.turned)) if seen.turned else PASSED


def moves_with_dtype(
    bench: Bench, case: Case, dtype: str, mask: Mapping[str, str] | None = None
) -> Finding:
    """After `.to(dtype)` the module takes inputs of that dtype, its mask built in or given."""
    problem = bench.draw(case, dtype=dtype, mask=mask)
    seen = bench.run(bench.probe(problem, describe=True))
    unregistered = [p.name for p in seen.parameters if not p.registered]
    if unregistered:
        return failed("state.stays-behind", names=", ".join(unregistered))
    return trouble(seen) or PASSED


def moves_with_device(bench: Bench, case: Case) -> Finding:
    """No tensor the module needs stays on the CPU when the module leaves it.

    A plain tensor attribute that stays behind is no fault as long as forward takes it along, or
    does without it. One that forward makes without a device, or finds outside the module, is no
    fault of a file that was asked for nothing but the CPU; it is noted.
    """
    problem = bench.draw(case)
    calls = tuple(_calls_with_masks(bench, case, problem))
    still = bench.run(bench.probe(problem, moved=True, calls=()))
    stray = still.stray if trouble(still) is None else ()
    if stray and _meets_two_devices(bench.run(bench.probe(problem, left=stray, calls=calls))):
        return failed("state.stays-behind", names=", ".join(stray))
    alone = bench.run(bench.probe(problem, left=(), calls=calls))
    if alone.fault is not None and _meets_two_devices(alone):
        bench.notes.append(Message("note.made-elsewhere", {"line": alone.fault.line}))
    return PASSED


def _calls_with_masks(bench: Bench, case: Case, problem: Problem) -> Iterator[Call]:
    """The call without a mask, and with those that the file takes."""
    yield bench.call(problem)
    padded = bench.contract.mask == "padding"
    kinds = (("padding", "b k"),) if padded else (("padding", "b 1 1 k"), ("causal", "q k"))
    for kind, form in kinds:
        with contextlib.suppress(NotOfferedError):
            yield bench.call(bench.remask(case, problem, kind, form))


def _meets_two_devices(seen: Observation) -> bool:
    """Not just any trouble with a device: of the one that the call is told nothing can be done."""
    fault = seen.fault
    return seen.status is Status.RAISED and fault is not None and "same device" in fault.text


def uses_no_ready_made_attention(bench: Bench, case: Case) -> Finding:
    """No call of torch's own attention was seen, in this case or any before it."""
    problem = bench.draw(case)
    for train in (False, True):
        bench.run(bench.probe(problem, watch=True, train=train))
    if bench.ready_made:
        names = ", ".join(sorted({name for name, _ in bench.ready_made}))
        lines = [line for _, line in bench.ready_made if line]
        return failed("state.ready-made", names=names, line=min(lines, default=None))
    return PASSED
