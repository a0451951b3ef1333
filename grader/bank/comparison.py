"""Judges what came back for a problem against the definition, and words what differs."""

from __future__ import annotations

from typing import Any

import numpy as np

from grader.bank.bench import Answer, Bench
from grader.bank.explanation import explain, revise
from grader.bank.findings import PASSED, Finding, failed, letters
from grader.bank.problem import Problem
from grader.definition import Activations
from grader.model import Array, Case, Message, Observation
from grader.precision import PRECISIONS, Allowance, mean_error

# The further right orders of evaluation are off by a few times as much as the first of them.
FAR = 1e4


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
    for growing in problem.tolerance:
        allowed = growing.widened(slack, expected)
        message = differences(answer, expected, allowed, problem)
        if message is None:
            return PASSED
        if is_far(answer.output, expected.output, allowed.output):
            break
    if named:
        revise(bench, problem, answer.output)
    charged = bench.charged_elsewhere(case)
    if charged:
        steps = bench.steps(charged)
        meant = problem.expect(steps)
        for growing in problem.tolerate(steps):
            # Which weights go with a wrong output is a matter of taste; the output is not.
            least = growing.widened(slack, meant).output
            if difference("output", answer.output, meant.output, least, problem) is None:
                return Finding(1.0, Message("followed", {"mistake": charged[-1].id}))
    # Where only the weights differ, the output is right, and says nothing of a mistake.
    named = named and message is not None and message.fields.get("what") != "weights"
    mistake = explain(bench, case, problem, answer.output) if named else None
    return Finding(0.0, message, mistake.id if mistake else None)


def is_far(output: Array, expected: Array, allowed: float) -> bool:
    """True where no right order of evaluation is that far off, however it rounds."""
    return not np.abs(output - expected).max(initial=0.0) <= FAR * allowed


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
