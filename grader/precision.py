"""What a narrower dtype does to values, and how far a right answer may be from the exact one.

No absolute tolerance is guessed. In float16 and bfloat16 the allowed error is four times the
largest one found among right evaluations of the same problem with every intermediate rounded to
the dtype (scale on the scores, on q, on both; softmax in one step or by hand; biases in one step or
apart): measured right implementations stay below twice that envelope. In float32 accumulation order
matters more than rounding of intermediates, so the factor is larger and a floor of 256 half-ulps
applies; in float64 the floor admits a float32 constant (sqrt of a float32 tensor) in an otherwise
exact file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from grader.definition import CORRECT, Activations, Steps, Store, Weights, attend, exact, linear
from grader.model import Array


def to_float32(x: Array) -> Array:
    """Round to float32; what does not fit becomes infinite."""
    with np.errstate(over="ignore"):
        return x.astype(np.float32).astype(np.float64)


def to_float16(x: Array) -> Array:
    """Round to float16 by way of float32, as torch does; what does not fit becomes infinite."""
    with np.errstate(over="ignore"):
        return x.astype(np.float32).astype(np.float16).astype(np.float64)


def to_bfloat16(x: Array) -> Array:
    """Round to bfloat16, ties to even: float32 with the lower half of its bits rounded away."""
    with np.errstate(over="ignore"):
        bits = np.ascontiguousarray(x, dtype=np.float32).view(np.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)
    return rounded.view(np.float32).astype(np.float64)


@dataclass(frozen=True)
class Precision:
    """A dtype: its rounding, the factor on the envelope, and the smallest relative tolerance.

    `typical` is the factor on the root mean square of the error, 0 where it is not looked at. A
    step done in a narrower dtype yet stays below the largest allowed error here and there, but not
    on the average.
    """

    store: Store
    factor: float
    floor: float
    typical: float = 0.0


PRECISIONS: dict[str, Precision] = {
    "float64": Precision(exact, 0.0, 1e-6),
    "float32": Precision(to_float32, 16.0, 256 * 2.0**-24),
    "float16": Precision(to_float16, 4.0, 2.0**-11, 3.0),
    "bfloat16": Precision(to_bfloat16, 4.0, 2.0**-8, 3.0),
}


@dataclass(frozen=True)
class Allowance:
    """The largest absolute error a right answer may show, and the largest mean one (0: any)."""

    output: float
    weights: float
    typical: float = 0.0

    def widened(self, slack: float, truth: Activations) -> Allowance:
        """The same with a further relative error, and any on the average."""
        if not slack:
            return self
        return Allowance(
            self.output + slack * size(truth.output), self.weights + slack * size(truth.weights)
        )


@dataclass
class Tolerance:
    """An allowance as it grows, way by way; the last one is the whole of it.

    An answer within an early one is within the last, and most are within the first: the further
    ways are evaluated for those that are not. What has grown stays, for the next file.
    """

    growing: Iterator[Allowance]
    grown: list[Allowance] = field(default_factory=list)

    def __iter__(self) -> Iterator[Allowance]:
        """From the smallest on."""
        yield from self.grown
        for allowance in self.growing:
            self.grown.append(allowance)
            yield allowance

    def whole(self) -> Allowance:
        """With every way evaluated."""
        return list(self)[-1]


def allow(
    dtype: str,
    weights: Weights,
    inputs: tuple[Array, Array, Array],
    num_heads: int,
    visible: Array | None,
    steps: Steps,
    truth: Activations,
    rows: Sequence[int] = (),
) -> Iterator[Allowance]:
    """The tolerance for one problem in one dtype; inputs and weights already rounded to it.

    `truth` is the same problem evaluated exactly, for `rows` of the queries or for all.
    """
    precision = PRECISIONS[dtype]
    output, shares = (precision.floor * size(x) for x in (truth.output, truth.weights))
    typical = 0.0
    if not precision.typical:
        yield Allowance(output, shares)
    for way in ways(steps, precision.store, weights) if precision.factor else ():
        with np.errstate(all="ignore"):
            run = attend(weights, *inputs, num_heads, visible, way, precision.store, rows)
            output = max(output, precision.factor * distance(run.output, truth.output))
            shares = max(shares, precision.factor * distance(run.weights, truth.weights))
            typical = max(typical, precision.typical * mean_error(run.output, truth.output))
        yield Allowance(output, shares, typical)


def ways(steps: Steps, store: Store, weights: Weights) -> list[Steps]:
    """Right orders of evaluation, all the same function in exact arithmetic."""
    apart = biased_apart(steps, store, weights)
    if steps.scale is not CORRECT.scale or steps.softmax is not CORRECT.softmax:
        return [steps, *apart]
    return [
        steps,
        replace(steps, score=scaled_before(steps, store, both=False), scale=unscaled),
        replace(steps, score=scaled_before(steps, store, both=True), scale=unscaled),
        replace(steps, softmax=softmax_by_hand(store)),
        replace(steps, softmax=softmax_in_logs(store)),
        *apart,
    ]


def biased_apart(steps: Steps, store: Store, weights: Weights) -> list[Steps]:
    """Biases added to products that have been rounded, as in x @ W + b; [] where there are none."""
    biases = (weights.bq, weights.bk, weights.bv, weights.bo)
    touched = ("weights", "split", "heads", "project")
    is_usual = all(getattr(steps, name) is getattr(CORRECT, name) for name in touched)
    if not is_usual or all(bias is None for bias in biases):
        return []

    def add(bare: Array, bias: Array | None) -> Array:
        return bare if bias is None else store(bare + bias.reshape(bare.shape[1], 1, -1))

    def heads(q: Array, k: Array, v: Array) -> tuple[Array, Array, Array]:
        return add(q, weights.bq), add(k, weights.bk), add(v, weights.bv)

    def project(merged: Array, weights: Weights) -> Array:
        bare = store(linear(merged, weights.Wo, None))
        return bare if weights.bo is None else bare + weights.bo

    def without(weights: Weights) -> Weights:
        return replace(weights, bq=None, bk=None, bv=None)

    return [replace(steps, weights=without, heads=heads, project=project)]


def scaled_before(steps: Steps, store: Store, both: bool) -> Callable[[Array, Array], Array]:
    """The scale on q alone, or its root on q and k."""

    def score(q: Array, k: Array) -> Array:
        head_dim = q.shape[-1]
        root = head_dim ** (-0.25 if both else -0.5)
        return steps.score(store(q * root), store(k * root) if both else k)

    return score


def unscaled(scores: Array, head_dim: int, d_model: int) -> Array:
    """The scale has been applied already."""
    return scores


def softmax_by_hand(store: Store) -> Callable[[Array], Array]:
    """Exp of the difference, then the sum, then the quotient, each rounded."""

    def softmax(scores: Array) -> Array:
        top = scores.max(axis=-1, keepdims=True, initial=-np.inf)
        exps = store(np.exp(store(scores - np.where(np.isfinite(top), top, 0.0))))
        total = store(exps.sum(axis=-1, keepdims=True))
        return exps / np.where(total == 0.0, 1.0, total)

    return softmax


def softmax_in_logs(store: Store) -> Callable[[Array], Array]:
    """Exp of the score less the logarithm of the sum of all exps, each rounded."""

    def softmax(scores: Array) -> Array:
        top = scores.max(axis=-1, keepdims=True, initial=-np.inf)
        top = np.where(np.isfinite(top), top, 0.0)
        total = np.exp(scores - top).sum(axis=-1, keepdims=True)
        logs = store(np.log(np.where(total == 0.0, 1.0, total)) + top)
        return np.exp(store(scores - logs))

    return softmax


def distance(got: Array, expected: Array) -> float:
    """Largest absolute difference; 0 for empty arrays."""
    return float(np.max(np.abs(got - expected), initial=0.0))


def mean_error(got: Array, expected: Array) -> float:
    """Root mean square of the differences; 0 for empty arrays."""
    return float(np.sqrt(np.mean((got - expected) ** 2))) if got.size else 0.0


def size(x: Array) -> float:
    """Largest absolute value; 0 for an empty array."""
    return float(np.max(np.abs(x), initial=0.0))
