"""Checks on the values that the module returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from grader.bank.ahead import Posed, judges
from grader.bank.bench import Bench, in_training
from grader.bank.comparison import compare
from grader.bank.findings import PASSED, Finding, letters, trouble
from grader.bank.problem import Problem
from grader.calling.plan import put
from grader.model import Case, Input, Message, Observation, Status


def pose_reference(
    bench: Bench,
    case: Case,
    sizes: Mapping[str, int] | None = None,
    mask: Mapping[str, str] | None = None,
    dtype: str = "float64",
    storage: str = "contiguous",
    gain: float = 1.5,
    autocast: str | None = None,
    train: bool = False,
    slack: float = 0.0,
) -> Posed:
    """One call on a problem.

    Under autocast module and inputs are float32, their values exact in the narrow dtype. `train`
    is training mode with a dropout of 0. `slack` is for whoever compares.
    """
    problem = bench.draw(
        case,
        sizes,
        mask=mask,
        dtype=autocast or dtype,
        gain=gain,
        expanded=storage == "expanded",
    )
    options = in_training(train)
    wide = "float32" if autocast else dtype
    probe = bench.probe(problem, storage=storage, autocast=autocast, dtype=wide, **options)
    return Posed(problem, probe)


@judges(pose_reference)
def matches_reference(
    bench: Bench, case: Case, problem: Problem, seen: Observation, args: Mapping[str, Any]
) -> Finding:
    """Output and weights equal the definition's, within what the dtype allows.

    `slack` is a further relative error, for scores so large that a constant in float32 shows.
    """
    return trouble(seen) or compare(bench, case, problem, seen, slack=args.get("slack", 0.0))


def takes_mask_forms(
    bench: Bench, case: Case, forms: list[str], sizes: Mapping[str, int] | None = None
) -> Finding:
    """Masks of every form that broadcasts; all in one probe, one by one where that fails."""
    base = bench.draw(case, sizes)
    problems = [bench.remask(case, base, "random", form) for form in forms]
    calls = tuple(bench.call(problem) for problem in problems)
    seen = bench.run(bench.probe(base, calls=calls))
    for number, (form, problem) in enumerate(zip(forms, problems)):
        if seen.status is Status.OK:
            found = compare(bench, case, problem, seen, number)
        else:
            alone = bench.run(bench.probe(problem))
            found = trouble(alone) or compare(bench, case, problem, alone)
        if found.credit < 1.0:
            assert found.message is not None
            assert problem.mask is not None
            fields = {"shape": letters(problem.mask.shape), "axes": form, "inner": found.message}
            return found._replace(message=Message("mask.form", fields))
    return trouble(seen) or PASSED


def reads_what_it_tells_apart(bench: Bench, case: Case) -> Finding:
    """Masks of every rank and dtype that the file's source asks for, as far as it takes them."""
    for slot in bench.plan.forward:
        for style in slot.style.also:
            (form,) = style.forms
            plan = replace(bench.plan, forward=put(bench.plan.forward, slot, slot.styled(style)))
            turned = replace(bench, plan=plan, carried=list(bench.carried))
            axes = " ".join(axis if axis in form else "1" for axis in "bhqk")
            problem = turned.draw(case, mask={"kind": "random", "form": axes})
            seen = turned.run(turned.probe(problem))
            found = trouble(seen) or compare(turned, case, problem, seen)
            if found.credit < 1.0:
                fields = {"axes": form, "dtype": style.dtype, "inner": found.message}
                return found._replace(message=Message("mask.kind", fields))
    return PASSED


def takes_one_tensor_for_all(bench: Bench, case: Case) -> Finding:
    """The very same tensor as query, key and value is self-attention, and nothing else."""
    base = bench.draw(case, {"q_len": 5, "kv_len": 5})
    inputs = base.inputs[:1] * len(base.inputs)
    problem = base.once("one tensor", lambda: replace(base, inputs=inputs))
    first, *others = bench.call(problem)
    sequences = len(base.inputs) - 1
    same = [i._replace(storage="same") for i in others[:sequences] if isinstance(i, Input)]
    call = (first, *same, *others[sequences:])
    seen = bench.run(bench.probe(problem, calls=(call,)))
    return trouble(seen) or compare(bench, case, problem, seen)


def accepts_none_mask(bench: Bench, case: Case) -> Finding:
    """A mask of None, given by hand, is no mask."""
    problem = bench.draw(case)
    seen = bench.run(
        bench.probe(problem, calls=((*bench.call(problem), bench.plan.without_mask()),))
    )
    return trouble(seen) or compare(bench, case, problem, seen)
