"""The attention weights that dropout left, read back out of outputs.

With no more keys than head dimensions the values of one head are linearly independent, so the
weights that were really applied follow from the output: context = output through the inverse of
the output projection, weights = context through the pseudo-inverse of the values.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from grader.bank.bench import Bench
from grader.bank.draw import GAIN
from grader.bank.findings import Finding, failed, trouble
from grader.bank.problem import REMEMBERED, Problem
from grader.definition import Steps, split_heads
from grader.model import Array, Case, Observation

SIZES = {"batch": 48, "q_len": 6, "kv_len": 6, "d_model": 18, "num_heads": 3}
# A step in float32 is right in a float64 module too. Its noise, made larger by the inverses, stays
# below NOISE for weights that are not tiny; where one is, its ratio to itself says nothing.
CLEAR = 1e-2
NOISE = 0.05
FIRM = 1e-2


@dataclass(frozen=True)
class Applied:
    """What two training calls applied, and what they returned.

    `ratios` [2, b, h, q, k] are applied weights over right ones, `clear` [b, h, q, k] says where
    they mean something, `residual` how badly any weights fit the output at all; `returned` are
    the returned weights and `weights` the right ones.
    """

    ratios: Array
    clear: Array
    residual: float
    returned: tuple[Array | None, ...]
    weights: Array

    @property
    def dropped(self) -> Array:
        """[2, b, h, q, k]: True where a weight was dropped."""
        return np.abs(self.ratios) < NOISE

    @property
    def renormalised(self) -> bool:
        """True where in each row that lost weights the others are divided by their sum."""
        if self.residual > 1e-3:
            return False
        kept = self.clear & ~self.dropped
        lost = (self.clear & self.dropped).any(axis=-1) & kept.any(axis=-1)
        most = np.where(kept, self.ratios, -np.inf).max(axis=-1)[lost]
        least = np.where(kept, self.ratios, np.inf).min(axis=-1)[lost]
        total = np.where(kept, self.weights, 0.0).sum(axis=-1)[lost]
        # What is too small to be told may have been dropped or not.
        small = np.where(self.clear, 0.0, self.weights).sum(axis=-1)
        small = np.broadcast_to(small, lost.shape)[lost]
        alike = most - least <= NOISE * np.abs(most)
        with np.errstate(divide="ignore"):
            whole = (1 / most > total - NOISE) & (1 / most < total + small + NOISE)
        return bool(lost.any() and (alike & whole).all())

    @property
    def seen(self) -> Array:
        """The ratios of both calls that mean something, in one row."""
        return self.ratios[:, self.clear].reshape(-1)


@dataclass(frozen=True)
class Inverse:
    """What leads from an output back to weights, by some steps.

    `merge` [m, m] undoes the output projection and `values` [b, h, d, k] the values; `clear`
    [b, h, q, k] says where a weight can be told.
    """

    merge: Array | None
    values: Array
    clear: Array


def apply(
    bench: Bench, case: Case, probability: float, mask: Mapping[str, str] | None = None
) -> Applied | Finding:
    """Weights applied in training, seen once for all the cases that ask."""
    make = functools.partial(_look, bench, case, probability, mask)
    return bench.remember(("dropout", probability, str(mask)), make)


def _look(
    bench: Bench, case: Case, probability: float, mask: Mapping[str, str] | None
) -> Applied | Finding:
    if not bench.plan.has_dropout:
        return failed("dropout.no-argument")
    problem = with_orthogonal_output(bench.draw(f"dropout {probability} {mask}", SIZES, mask=mask))
    calls = (bench.call(problem), bench.call(problem))
    options: dict[str, Any] = {"dropout": probability, "train": True}
    options["seed"] = bench.seed & 0xFFFF
    seen = bench.run(bench.probe(problem, calls=calls, **options))
    return trouble(seen) or read_applied(bench, case, problem, seen)


def with_orthogonal_output(problem: Problem) -> Problem:
    """The same with an output projection whose inverse makes no error larger."""
    weights, output = problem.weights, problem.weights.Wo
    if output is None:
        return problem

    def make() -> Problem:
        turned, _ = np.linalg.qr(output)
        return replace(problem, weights=replace(weights, Wo=turned * GAIN))

    return problem.once("orthogonal", make)


def read_applied(
    bench: Bench, case: Case, problem: Problem, seen: Observation
) -> Applied | Finding:
    """The weights behind the outputs of two calls, by the mistakes that others are charged with."""
    steps = bench.steps(bench.charged_elsewhere(case))
    acts, inverse = problem.expect(steps), invert(problem, steps)
    if inverse is None:
        # Of a known mistake that has no weights of each query for each key.
        return failed("dropout.no-output")
    answers = [bench.answer(seen, call) for call in range(2)]
    ratios, residual = [], 0.0
    safe = np.where(np.abs(acts.weights) > CLEAR, acts.weights, np.inf)
    for output, _ in answers:
        if output is None or output.shape != acts.output.shape:
            return failed("dropout.no-output")
        if not np.isfinite(output).all():
            return failed("dropout.not-finite")
        merged = output if problem.weights.bo is None else output - problem.weights.bo
        if inverse.merge is not None:
            merged = merged @ inverse.merge
        context = split_heads(merged, problem.sizes.num_heads)  # b h q d
        weights = context @ inverse.values  # b h q k
        off = np.abs(weights @ acts.v - context).max() / np.abs(context).max(initial=1e-30)
        residual = max(residual, float(off))
        ratios.append(weights / safe)
    if not inverse.clear.any():
        # Of a known mistake that leaves no weight to drop.
        return failed("dropout.no-output")
    returned = tuple(answer.weights for answer in answers)
    return Applied(np.stack(ratios), inverse.clear, residual, returned, acts.weights)


@functools.lru_cache(maxsize=REMEMBERED)
def invert(problem: Problem, steps: Steps) -> Inverse | None:
    """The way back by these steps; None where they have no weights of each query for each key."""
    acts = problem.expect(steps)
    if acts.weights.shape != problem.sizes.scores or not np.isfinite(acts.v).all():
        return None
    left, spread, right = np.linalg.svd(acts.v, full_matrices=False)  # b h k r, b h r, b h r d
    # Values that nearly depend on each other tell little about their weights.
    firm = spread[..., -1] > FIRM * spread[..., 0]
    safely = np.where(spread > 1e-15 * spread[..., :1], spread, np.inf)[..., None, :]
    values = (right.swapaxes(-1, -2) / safely) @ left.swapaxes(-1, -2)  # b h d k
    clear = (np.abs(acts.weights) > CLEAR) & firm[..., None, None]
    output = problem.weights.Wo
    return Inverse(None if output is None else np.linalg.inv(output).T, values, clear)
