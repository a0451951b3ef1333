"""Checks on switches of a file's own: what each turns on, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from grader.bank.bench import Bench, agrees
from grader.bank.comparison import compare, difference
from grader.bank.findings import PASSED, Finding, failed, trouble
from grader.bank.problem import Problem
from grader.calling import CallPlan, NotOfferedError
from grader.calling.masks import MASKS
from grader.model import Array, Case, Message, Observation, Status

SQUARE = {"q_len": 5, "kv_len": 5}
CAUSAL = {"kind": "causal", "form": "q k"}
PADDING = {"kind": "padding", "form": "b 1 1 k"}
# What a file raises by itself where it does not want to.
REFUSALS = ("NotImplementedError", "ValueError", "AssertionError")
COMBINED = {"kind": "combined", "form": "b 1 q k"}
RANDOM = {"kind": "random", "form": "b 1 q k"}


class Hint(NamedTuple):
    """As in torch, a switch may only say what the mask is that has to be given with it."""

    finding: Finding | None


def switches_causality(bench: Bench, case: Case) -> Finding:
    """Each switch for causality, turned from its default, hides the future or stops hiding it.

    With as many queries as keys it is right or wrong. Between two lengths the edge may stand at the
    start or at the end, and together with padding both are hidden; there a file may also refuse.
    """
    for plan, on in bench.plan.switched():
        if _does_nothing(bench, case, plan):
            continue
        if on and bench.contract.causal and plan.forward == bench.plan.forward:
            # What hides the future while its constructor's switch is off.
            return failed("mask.switch-idle", name=_turned(bench.plan, plan))
        contract = replace(bench.contract, causal=on)
        turned = replace(
            bench, remembered={}, plan=plan, contract=contract, carried=list(bench.carried)
        )
        found = _alone(turned, case)
        if isinstance(found, Hint):
            found = found.finding or _with(turned, case, COMBINED)
        else:
            found = found or _over_two_lengths(turned, case) or _with(turned, case, PADDING)
        if found is not None:
            return _inside("mask.switch", bench.plan, plan, found)
    return PASSED


def _does_nothing(bench: Bench, case: Case, plan: CallPlan) -> bool:
    """True of a switch of the constructor without effect, where forward is given the mask.

    It may say what the masks are, or be for a path that is not taken here.
    """
    given = any(slot.role in MASKS for slot in plan.forward)
    if not given or plan.build == bench.plan.build:
        return False
    turned = replace(bench, remembered={}, plan=plan, carried=list(bench.carried))
    problem = turned.draw(case, SQUARE)
    seen = turned.run(turned.probe(problem))
    return not (trouble(seen) or _wrong(compare(turned, case, problem, seen, named=False)))


def _inside(key: str, plan: CallPlan, turned: CallPlan, found: Finding) -> Finding:
    """The same finding, with the name of the switch."""
    fields = {"name": _turned(plan, turned), "inner": found.message}
    return found._replace(message=Message(key, fields))


def _turned(plan: CallPlan, turned: CallPlan) -> str:
    """The name of the switch that was turned."""
    pairs = zip((*plan.build, *plan.forward), (*turned.build, *turned.forward))
    return next(str(new.name) for old, new in pairs if old != new)


def _wrong(found: Finding) -> Finding | None:
    return found if found.credit < 1.0 else None


def _alone(bench: Bench, case: Case) -> Finding | Hint | None:
    problem = bench.draw(case, SQUARE)
    seen = bench.run(bench.probe(problem))
    given = None
    if seen.status is Status.RAISED and bench.contract.causal:
        given = _given(bench, case, SQUARE, CAUSAL)
    if given is not None and given[1].status is Status.OK:
        return Hint(_wrong(compare(bench, case, *given)))
    return trouble(seen) or _wrong(compare(bench, case, problem, seen))


def _over_two_lengths(bench: Bench, case: Case) -> Finding | None:
    if len(bench.contract.inputs) == 1 or bench.contract.one_length:
        return None
    problem = bench.draw(case)
    seen = bench.run(bench.probe(problem))
    if seen.status is Status.RAISED:
        return None
    found = trouble(seen) or compare(bench, case, problem, seen)
    if found.credit < 1.0 and bench.contract.causal:
        started = np.tri(problem.sizes.q_len, problem.sizes.kv_len, dtype=bool)
        early = replace(problem, visible=np.broadcast_to(started, problem.sizes.scores))
        found = trouble(seen) or compare(bench, case, early, seen, named=False)
    return _wrong(found)


def _with(bench: Bench, case: Case, mask: Mapping[str, str]) -> Finding | None:
    given = _given(bench, case, SQUARE, mask)
    if given is None or given[1].status is Status.RAISED:
        return None
    problem, seen = given
    return trouble(seen) or _wrong(compare(bench, case, problem, seen))


def _given(
    bench: Bench, case: Case, sizes: Mapping[str, int], mask: Mapping[str, str]
) -> tuple[Problem, Observation] | None:
    """The problem with a mask, and what came of it; None where the file takes none that says it."""
    problem = bench.draw(case, sizes, mask=mask)
    try:
        return problem, bench.run(bench.probe(problem))
    except NotOfferedError:
        return None


def returns_weights_when_told(bench: Bench, case: Case) -> Finding:
    """Each switch for what is returned, turned, leaves the output right and the weights too.

    So they are right without any switch. A switch may refuse, or leave the output out.
    """
    if bench.plan.doubtful:
        found = _returned(bench, case)
        if found is not None:
            return found
    for plan in bench.plan.turned("returns"):
        turned = replace(
            bench, remembered={}, plan=replace(plan, weights=None), carried=list(bench.carried)
        )
        found = _returned(turned, case)
        if found is not None:
            return _inside("weights.switch", bench.plan, plan, found)
    return PASSED


def _returned(bench: Bench, case: Case) -> Finding | None:
    """What is wrong with what is returned, under a mask where one is taken."""
    given = _given(bench, case, {}, RANDOM)
    problem = given[0] if given else bench.draw(case)
    seen = given[1] if given else bench.run(bench.probe(problem))
    if seen.fault is not None and seen.fault.type in REFUSALS:
        return None
    found = trouble(seen)
    if found is not None:
        return found
    tensors = sorted(seen.returned[0].tensors.items())
    if not tensors:
        return failed("shape.no-output", got=", ".join(seen.returned[0].kinds) or "()")
    shape = bench.plan.arrange(problem.truth.output).shape
    place = next((at for at, tensor in tensors if tensor.shape == shape), None)
    if place is not None:
        placed = replace(bench, remembered={}, plan=replace(bench.plan, output=place, weights=None))
        found = _wrong(compare(placed, case, problem, seen))
    others = [tensor.astype(float) for at, tensor in tensors if at != place]
    return found or _differing_weights(bench, case, problem, others)


def _differing_weights(
    bench: Bench, case: Case, problem: Problem, returned: Sequence[Array]
) -> Finding | None:
    """What is wrong with a tensor of the weights' shape, or their mean's, that is no scores."""
    acts = bench.expect(case, problem)
    with np.errstate(all="ignore"):
        scores = [acts.raw, acts.scaled, acts.masked, np.log(acts.weights)]
    for got in returned:
        wanted = acts.weights if got.ndim == 4 else acts.weights.mean(axis=1)
        meant = [wanted, *scores, *acts.weights.swapaxes(0, 1)]
        if got.shape != wanted.shape or any(agrees(got, one) for one in meant):
            continue
        message = difference("weights", got, wanted, problem.tolerance.whole().weights, problem)
        return Finding(0.0, message) if message else None
    return None
