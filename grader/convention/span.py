"""How much of each value is in what a file returned, whatever its scores and masks were.

An output is a sum of values, each projected by its head's part of Wo, and the attention weights are
the factors. Where there are fewer values than d_model the factors can be told from the sum.
"""

from __future__ import annotations

import functools

import numpy as np

from grader.bank.problem import Problem
from grader.convention.trials import Trial
from grader.definition import CORRECT, Steps, Weights, linear, make_heads
from grader.model import Array

# How far off the span what is right may be: far more than rounding, even of float32.
OFF_SPAN = 1e-4
# The square of a value that is nothing, as a ReLU may leave it, against that of the largest.
NOTHING = 1e-24
# Beyond this condition of their products values can stand for each other.
ALIKE = 1e12


def find_shares(trial: Trial, weights: Weights, steps: Steps) -> Array | None:
    """The attention weights [b, h, k, q] by which the values give what came; None if none do.

    Rows that are no numbers are left out, as if nothing were given there, and what a value of
    nothing is weighed by is NaN: whatever it is does as well. The steps that merge and
    project may be wrong ones where there is one query. Raises ValueError where the steps do not
    fit these sizes, and where values depend on each other, so that other factors do as well.
    """
    with np.errstate(all="ignore"):
        values, rest = _apart(trial.problem, weights, steps)
        left = np.where(trial.known[..., None], trial.output - rest, 0.0).swapaxes(-1, -2)
        turned = values.swapaxes(-1, -2)
        squares = turned @ values
        lengths = squares.diagonal(axis1=-2, axis2=-1)
        empty = lengths <= NOTHING * lengths.max(initial=0.0)
        squares += np.eye(squares.shape[-1]) * (1e-15 * np.abs(squares).max() + 1e-300)
        shares: Array = np.linalg.solve(squares, turned @ left)
        off = np.abs(left - values @ shares).max(initial=0.0)
    if not off <= OFF_SPAN * np.abs(left).max(initial=0.0):
        return None
    if _depend(squares):
        raise ValueError("values depend on each other")
    shares[empty] = np.nan
    heads = trial.problem.sizes.num_heads
    return shares.reshape(len(shares), heads, values.shape[-1] // heads, shares.shape[-1])


def _depend(squares: Array) -> bool:
    """True where one value is a sum of others; one that is nothing is no part of any."""
    lengths = np.sqrt(squares.diagonal(axis1=-2, axis2=-1))
    return bool((np.linalg.cond(squares / (lengths[..., None] * lengths[:, None])) > ALIKE).any())


@functools.cache
def _each(heads: int, length: int) -> Array:
    """None of the values, then each by itself, [h*k + 1, 1, h, k, 1]."""
    return np.eye(heads * length + 1, heads * length, -1).reshape(-1, 1, heads, length, 1)


def _apart(problem: Problem, weights: Weights, steps: Steps) -> tuple[Array, Array]:
    """What each value gives by itself, [b, m, h*k], and what is returned without any, [b, q, m]."""
    inputs = steps.inputs(*problem.attended)
    v = _make_values(inputs, weights, problem.sizes.num_heads, steps)
    batch, heads, length, head_dim = v.shape
    if (batch, heads) != problem.sizes.scores[:2]:
        raise ValueError("heads or samples stand where tokens should")
    contexts = (_each(heads, length) * v).sum(axis=3).reshape(-1, heads, 1, head_dim)
    projected = steps.project(steps.merge(contexts), weights)
    projected = projected.reshape(heads * length + 1, batch, -1)
    rest = steps.finish(projected[0][:, None], inputs[0])
    return (projected[1:] - projected[0]).transpose(1, 2, 0), rest


def _make_values(
    inputs: tuple[Array, Array, Array], weights: Weights, num_heads: int, steps: Steps
) -> Array:
    """V [b, h, k, d]; queries and keys are made only where something is done to all three."""
    if steps.heads is not CORRECT.heads:
        return make_heads(weights, inputs, num_heads, steps)[2]
    return steps.split(linear(inputs[2], weights.Wv, weights.bv), num_heads)
