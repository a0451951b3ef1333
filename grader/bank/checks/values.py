"""Checks on what the module returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from grader.bank.ahead import Posed, judges
from grader.bank.bench import Answer, Bench, in_training
from grader.bank.draw import Problem
from grader.bank.explanation import explain, revise
from grader.bank.findings import PASSED, Finding, failed, letters, trouble
from grader.calling.plan import put
from grader.definition import Activations
from grader.model import Array, Case, Input, Message, Observation, Status
from grader.precision import PRECISIONS, Allowance, mean_error


def has_output_shape(
    bench: Bench, case: Case, sizes: Mapping[str, int] | None = None, crossed: bool = False
) -> Finding:
    """The first thing returned is a tensor of the query's shape, [b, q, m].

    `crossed` asks for two lengths even of a file that was found to have room for one.
    """
    problem = bench.draw(case, sizes, crossed)
    seen = bench.run(bench.probe(problem))
    found = trouble(seen)
    if found is not None:
        return _at_equal_lengths(bench, case, problem) or found
    output = bench.answer(seen).output
    if output is None:
        return failed("shape.no-output", got=", ".join(seen.returned[0].kinds) or "()")
    return _same_shape("output", output, problem.inputs[0])


def _at_equal_lengths(bench: Bench, case: Case, problem: Problem) -> Finding | None:
    """What to say of a module that runs only with as many queries as keys."""
    sizes = problem.sizes
    if len(bench.contract.inputs) == 1 or sizes.q_len == sizes.kv_len:
        return None
    trial = bench.draw(case, {**asdict(sizes), "kv_len": sizes.q_len})
    if bench.run(bench.probe(trial)).status is not Status.OK:
        return None
    found = trouble(bench.run(bench.probe(problem)))
    if found is None or found.message is None:
        return None
    lengths = {"q_len": sizes.q_len, "kv_len": sizes.kv_len}
    line = found.message.fields.get("line")
    said = failed("shape.lengths", **lengths, inner=found.message, line=line)
    # All else can be judged with one length.
    return said._replace(mistake="wrong-cross-length")


def returns_weights(bench: Bench, case: Case) -> Finding:
    """(output, weights) and no more, the weights [b, h, q, k], one set for each head."""
    problem = bench.draw(case)
    seen = bench.run(bench.probe(problem))
    found = trouble(seen)
    if found is not None:
        return found
    returned = seen.returned[0]
    pair = returned.structure in ("tuple", "list") and len(returned.kinds) == 2
    if not pair or 1 not in returned.tensors:
        got = ", ".join(returned.kinds)
        return failed("shape.not-a-pair", got=f"({got})" if returned.structure != "single" else got)
    return _same_shape("weights", returned.tensors[1], problem.truth.weights)


def _same_shape(what: str, got: Array, expected: Array) -> Finding:
    if got.shape == expected.shape:
        return PASSED
    fields = {"got": letters(got.shape), "expected": letters(expected.shape)}
    return failed("shape.differs", what=what, **fields)


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
    problem = replace(base, inputs=base.inputs[:1] * len(base.inputs))
    first, *others = bench.call(problem)
    sequences = len(base.inputs) - 1
    same = [i._replace(storage="same") for i in others[:sequences] if isinstance(i, Input)]
    call = (first, *same, *others[sequences:])
    seen = bench.run(bench.probe(problem, calls=(call,)))
    return trouble(seen) or compare(bench, case, problem, seen)


def compare(
    bench: Bench,
    case: Case,
    problem: Problem,
    seen: Observation,
    call: int = 0,
    slack: float = 0.0,
    named: bool = True,
) -> Finding:
    """Judge one call's output and weights against the definition; explain what differs.

    Unless `named` no mistake is looked for: the problem is one where many give nearly the same.
    """
    return judge_answer(bench, case, problem, bench.answer(seen, call), slack, named)


def judge_answer(
    bench: Bench,
    case: Case,
    problem: Problem,
    answer: Answer,
    slack: float = 0.0,
    named: bool = True,
) -> Finding:
    """As `compare`, of an answer that has been read."""
    expected = problem.truth
    if answer.output is None or answer.output.shape != expected.output.shape:
        shape = "nothing" if answer.output is None else letters(answer.output.shape)
        return failed(
            "shape.differs", what="output", got=shape, expected=letters(expected.output.shape)
        )
    for allowed in problem.tolerance:
        message = differences(answer, expected, allowed.widened(slack, expected), problem)
        if message is None:
            return PASSED
    if named:
        revise(bench, problem, answer.output)
    charged = bench.charged_elsewhere(case)
    if charged:
        steps = bench.steps(charged)
        meant = problem.expect(steps)
        for allowed in problem.tolerate(meant, steps):
            # Which weights go with a wrong output is a matter of taste; the output is not.
            if difference("output", answer.output, meant.output, allowed.output, problem) is None:
                return Finding(1.0, Message("followed", {"mistake": charged[-1].id}))
    # Where only the weights differ, the output is right, and says nothing of a mistake.
    named = named and message is not None and message.fields.get("what") != "weights"
    mistake = explain(bench, case, problem, answer.output) if named else None
    return Finding(0.0, message, mistake.id if mistake else None)


def differences(
    answer: Answer, expected: Activations, allowed: Allowance, problem: Problem
) -> Message | None:
    """The first of output and weights that differs; weights only where their shape is right."""
    assert answer.output is not None
    found = difference("output", answer.output, expected.output, allowed.output, problem)
    if found is None and allowed.typical:
        error = mean_error(answer.output, expected.output)
        if error > allowed.typical:
            times = f"{PRECISIONS[problem.dtype].typical * error / allowed.typical:.1f}"
            return Message("values.imprecise", {"dtype": problem.dtype, "times": times})
    if found or answer.weights is None:
        return found
    # Some return the mean over the heads.
    wanted = expected.weights if answer.weights.ndim == 4 else expected.weights.mean(axis=1)
    if answer.weights.shape != wanted.shape:
        return None
    return difference("weights", answer.weights, wanted, allowed.weights, problem)


def difference(
    what: str, got: Array, expected: Array, allowed: float, problem: Problem
) -> Message | None:
    """The sentence for the worst difference beyond `allowed`; None when there is none.

    Written so that a NaN never counts as close.
    """
    with np.errstate(invalid="ignore"):
        # Of mistakes taken as meant, what is expected may be infinite.
        errors = got - expected
    close: Array = np.abs(errors, out=errors) <= allowed
    if close.all():
        return None
    fields: dict[str, Any] = {"what": what, "dtype": problem.dtype, "total": close.size}
    broken = ~np.isfinite(got)
    if broken.any():
        index = tuple(int(i) for i in np.argwhere(broken)[0])
        fields |= {"count": int(broken.sum()), "index": letters(index), "got": str(got[index])}
        seen = problem.visible
        if seen is not None and not seen[index[0]].any(axis=-1).all():
            return Message("values.not-finite-dead", fields)
        return Message("values.not-finite", fields)
    errors = np.where(close, 0.0, errors)
    index = tuple(int(i) for i in np.unravel_index(errors.argmax(), errors.shape))
    fields |= {
        "count": int((~close).sum()),
        "index": letters(index),
        "got": f"{got[index]:.4g}",
        "expected": f"{expected[index]:.4g}",
        "difference": f"{errors[index]:.2g}",
        "allowed": f"{allowed:.2g}",
    }
    return Message("values.differ", fields)


def projects_output(bench: Bench, case: Case) -> Finding:
    """Besides q, k and v there is a projection left over for the output."""
    if bench.layout is not None and "Wo" not in bench.layout.places:
        return failed("shape.no-output-projection")
    return PASSED


def keeps_dtype(bench: Bench, case: Case, dtype: str) -> Finding:
    """A module of one dtype returns that dtype."""
    problem = bench.draw(case, dtype=dtype)
    seen = bench.run(bench.probe(problem))
    found = trouble(seen)
    if found is not None:
        return found
    got = seen.returned[0].dtypes.get(bench.plan.output, "nothing")
    return PASSED if got == dtype else failed("dtype.differs", got=got, expected=dtype)


def accepts_none_mask(bench: Bench, case: Case) -> Finding:
    """A mask of None, given by hand, is no mask."""
    problem = bench.draw(case)
    seen = bench.run(
        bench.probe(problem, calls=((*bench.call(problem), bench.plan.without_mask()),))
    )
    return trouble(seen) or compare(bench, case, problem, seen)
