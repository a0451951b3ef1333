"""Checks on dropout that need not know where in the module it acts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from grader.bank.applied import with_orthogonal_output
from grader.bank.bench import Bench, agrees, in_training
from grader.bank.checks.dropout import is_renormalised
from grader.bank.comparison import compare
from grader.bank.findings import PASSED, Finding, failed, trouble
from grader.bank.problem import Problem
from grader.calling import NotOfferedError
from grader.definition import split_heads
from grader.model import Array, Case, Message, Observation

MANY = {"batch": 1024, "q_len": 3, "kv_len": 4, "d_model": 6, "num_heads": 2}
DEVIATIONS = 8.0
STEP = 1e-3
# Every sample is one token, four times over.
ALIKE = {"batch": 256, "q_len": 4, "kv_len": 4}
NOISE = 0.02


def averages_to_eval(bench: Bench, case: Case, probability: float) -> Finding:
    """In training no two samples are alike, and their mean is what eval gives.

    All samples have the same input. Wherever dropout acts after the softmax the output is linear
    in it, so with kept values scaled by 1 / (1 - p) the mean over many samples is the output
    without it. By Bernstein's bound a right file is this far off in fewer than one run of a
    million. Each of several dropouts has to do so by itself, if it does anything.
    """
    if not bench.plan.has_dropout:
        raise NotOfferedError("dropout")
    found = _averages(bench, case, probability)
    alone = (_averages(one, case, probability) for one in _with_lone_dropouts(bench))
    wrong = (one for one in alone if one.credit < 1.0 and one != _never_on(probability))
    return found if found.credit < 1.0 else next(wrong, found)


def _with_lone_dropouts(bench: Bench) -> Iterator[Bench]:
    for plan in bench.plan.lone_dropouts():
        yield replace(bench, plan=plan, carried=list(bench.carried))


def _never_on(probability: float) -> Finding:
    return failed("dropout.never-on", probability=probability)


def _averages(bench: Bench, case: Case, probability: float) -> Finding:
    problem = bench.draw(case, MANY, expanded=True)
    seen = _train_twice(bench, problem, probability)
    if isinstance(seen, Finding):
        return seen
    output, again = seen
    expected = bench.expect(case, problem).output
    still = output.std(axis=0).max(axis=-1) < STEP * np.abs(expected[0]).max()
    if still.all():
        return _never_on(probability)
    if np.array_equal(output, again):
        return failed("dropout.repeats")
    if still.any():
        return failed("dropout.mean", probability=probability)
    if not _is_far(output, expected):
        return PASSED
    unmoved = _unmoved(bench, problem)
    kept = 1 - probability
    if not _is_far(output, unmoved + kept * (expected - unmoved)):
        return failed("dropout.scale", got="1", expected=f"{1 / kept:.4g}")
    if not _is_far(output, unmoved + probability / kept * (expected - unmoved)):
        # What should be dropped is kept, and scaled as if the others were.
        return failed("dropout.rate", got=f"{kept:.4g}", expected=probability)
    if is_renormalised(bench, case, probability):
        return failed("dropout.renormalised")
    return failed("dropout.mean", probability=probability)


def _unmoved(bench: Bench, problem: Problem) -> Array | float:
    """What is returned where every weight is dropped."""
    around = problem.inputs[0] if bench.contract.residual else 0.0
    return around if problem.weights.bo is None else around + problem.weights.bo


def agrees_in_training(bench: Bench, case: Case, mask: Mapping[str, str] | None = None) -> Finding:
    """Training mode with a dropout of 0 gives what eval gives, under a mask where one is taken.

    With a rate that cannot be set it does so on the average.
    """
    problem = _masked(bench, case, {}, mask)
    options = in_training(bench.plan.has_dropout)
    if not bench.plan.has_dropout:
        options = {"train": True, "calls": (bench.call(problem),) * 2}
    seen = bench.run(bench.probe(problem, **options))
    found = trouble(seen)
    if found is not None:
        return found
    if not bench.plan.has_dropout:
        first, second = bench.answer(seen).output, bench.answer(seen, 1).output
        if first is not None and second is not None and not np.array_equal(first, second):
            return _agrees_on_average(bench, case, mask)
    finding = compare(bench, case, problem, seen)
    if finding.credit < 1.0 and _drops_all(bench, problem, seen):
        return failed("dropout.rate-of-zero")
    return finding


def _drops_all(bench: Bench, problem: Problem, seen: Observation) -> bool:
    output = bench.answer(seen).output
    return output is not None and agrees(
        output, problem.truth.output * 0.0 + _unmoved(bench, problem)
    )


def _agrees_on_average(bench: Bench, case: Case, mask: Mapping[str, str] | None) -> Finding:
    # One mask for all samples, since all of them are averaged.
    shared = mask and {**mask, "kind": "holes", "form": "1 1 1 k"}
    problem = _masked(bench, case, MANY, shared, expanded=True)
    seen = _train_twice(bench, problem, None)
    if isinstance(seen, Finding):
        return seen
    far = _is_far(seen[0], bench.expect(case, problem).output)
    return failed("dropout.mean-of-default") if far else PASSED


def drops_where_it_may(bench: Bench, case: Case, probability: float) -> Finding:
    """Weights are dropped, or outputs, or both; not single numbers of the values, nor scores.

    With four equal tokens a head's context is its value times the sum of the applied weights,
    whatever they are: one factor for the whole head. Dropout on the values leaves a factor for
    each number; dropout on the merged heads, which is taken for one on the output, leaves the
    same factor or 0. What is dropped before the softmax leaves weights that add up to 1, and so
    does nothing here. Samples of which some output was dropped tell nothing. Each of several
    dropouts is looked at by itself.
    """
    if not bench.plan.has_dropout:
        raise NotOfferedError("dropout")
    if bench.charged_elsewhere(case):
        mistake = bench.charged_elsewhere(case)[-1].id
        return Finding(1.0, Message("followed", {"mistake": mistake}))
    found = _drops_no_values(bench, case, probability)
    alone = (_drops_no_values(one, case, probability) for one in _with_lone_dropouts(bench))
    return found if found.credit < 1.0 else next((f for f in alone if f.credit < 1.0), found)


def _drops_no_values(bench: Bench, case: Case, probability: float) -> Finding:
    drawn = with_orthogonal_output(bench.draw(case, ALIKE))
    inputs = tuple(np.repeat(x[:, :1], x.shape[1], axis=1) for x in drawn.inputs)
    problem = drawn.once("alike", lambda: replace(drawn, inputs=inputs))
    seen = _train_twice(bench, problem, probability)
    if isinstance(seen, Finding):
        return seen
    if _is_still(seen[0], problem):
        return _never_acts(bench, case, probability)
    factors = _factors(bench, problem, seen[0][:, -1], probability)
    kept = np.where(np.abs(factors) > NOISE, factors, np.nan)
    kept = kept[~np.isnan(kept).all(axis=-1)]
    spread = np.nanmax(kept, axis=-1, initial=-np.inf) - np.nanmin(kept, axis=-1, initial=np.inf)
    return failed("dropout.on-values") if (spread > NOISE).any() else PASSED


def _never_acts(bench: Bench, case: Case, probability: float) -> Finding:
    """Nothing was dropped from tokens that are alike: nothing is anywhere, or scores are."""
    problem = bench.draw(case, MANY, expanded=True)
    seen = _train_twice(bench, problem, probability)
    if isinstance(seen, Finding):
        return seen
    return (
        PASSED
        if _is_still(seen[0], problem)
        else failed("dropout.before-softmax", probability=probability)
    )


def _is_still(output: Array, problem: Problem) -> bool:
    """True where all samples, whose inputs are the same or alike, come to what eval gives."""
    expected = problem.truth.output
    return bool(np.abs(output - expected).max() < STEP * np.abs(expected).max())


def _factors(bench: Bench, problem: Problem, last: Array, probability: float) -> Array:
    """The factor of each number of a head's value, [b * h, d], from the last outputs [b, m]."""
    weights, truth = problem.weights, problem.truth
    around = problem.inputs[0][:, -1] if bench.contract.residual else 0.0
    made = last - around
    zero = np.abs(made) <= 1e-9 * np.abs(truth.output).max()
    if zero.mean() > probability / 3:
        made = made[~zero.any(axis=-1)] * (1 - probability)
    whole = truth.v[:, :, -1][~zero.any(axis=-1)] if len(made) < len(last) else truth.v[:, :, -1]
    made = made if weights.bo is None else made - weights.bo
    merged = made if weights.Wo is None else made @ np.linalg.inv(weights.Wo).T
    context = split_heads(merged[:, None], problem.sizes.num_heads)[:, :, 0]
    clear = np.abs(whole) > STEP**0.5
    found = np.where(clear, context / np.where(clear, whole, 1.0), np.nan)
    return found.reshape(-1, found.shape[-1])


def _masked(
    bench: Bench,
    case: Case,
    sizes: Mapping[str, int],
    mask: Mapping[str, str] | None,
    **options: Any,
) -> Problem:
    """The problem under this mask, or without one where the file takes none that says it."""
    problem = bench.draw(case, sizes, mask=mask, **options)
    try:
        bench.call(problem)
    except NotOfferedError:
        return bench.draw(case, sizes, **options)
    return problem


def _train_twice(
    bench: Bench, problem: Problem, probability: float | None
) -> tuple[Array, Array] | Finding:
    """The outputs of two calls in training mode."""
    options: dict[str, Any] = {"dropout": probability, "train": True, "seed": bench.seed & 0xFFFF}
    calls = (bench.call(problem), bench.call(problem))
    seen = bench.run(bench.probe(problem, calls=calls, **options))
    found = trouble(seen)
    if found is not None:
        return found
    output, again = bench.answer(seen).output, bench.answer(seen, 1).output
    if output is None or again is None or output.shape != problem.truth.output.shape:
        return failed("dropout.no-output")
    return (output, again) if np.isfinite(output).all() else failed("dropout.not-finite")


def _is_far(output: Array, expected: Array) -> bool:
    """True where the mean over the samples is farther off than chance has it."""
    # Samples that are alike need not stay so where a mistake mixes them.
    off = np.abs(output.mean(axis=0) - expected.mean(axis=0))
    allowed = DEVIATIONS * output.std(axis=0) / np.sqrt(len(output))
    return bool((off > allowed + STEP * np.abs(expected[0]).max()).any())
