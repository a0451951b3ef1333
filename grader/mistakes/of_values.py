"""Whether a step changes what values are, and how they are merged and projected."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from grader.definition import CORRECT, Weights
from grader.model import Array

NUM_HEADS = 3


class Sample(NamedTuple):
    """What steps are given: inputs [b, l, m], heads [b, h, l, d], a projection's output [b, l, m].

    They are plain numbers, all different.
    """

    weights: Weights
    inputs: tuple[Array, Array, Array]
    heads: tuple[Array, Array, Array]
    projected: Array


@functools.cache
def make_sample(length: int) -> Sample:
    """For sequences of this length."""
    rng = np.random.Generator(np.random.Philox(length))
    heads = rng.normal(size=(3, 2, NUM_HEADS, length, 16))
    inputs = rng.normal(size=(3, 2, length, 48))
    weights = Weights(*rng.normal(size=(4, 48, 48)), *rng.normal(size=(4, 48)))
    return Sample(weights, tuple(inputs), tuple(heads), rng.normal(size=(2, length, 48)))


# Lengths of sequences.
ALONE, SEVERAL = 1, 5
# By the name of a step, what becomes of values in it.
MAKERS: dict[str, Callable[[Callable[..., Any], Sample], tuple[Any, ...]]] = {
    "inputs": lambda step, sample: (step(*sample.inputs)[2],),
    "weights": lambda step, sample: _of_values(step(sample.weights)),
    "split": lambda step, sample: (step(sample.inputs[2], NUM_HEADS),),
    "heads": lambda step, sample: (step(*sample.heads)[2],),
    "merge": lambda step, sample: (step(sample.heads[2]),),
    "project": lambda step, sample: (step(sample.inputs[2], sample.weights),),
    "finish": lambda step, sample: (step(sample.projected, sample.inputs[0]),),
}


@functools.cache
def changes_values(name: str, step: Callable[..., Any], length: int) -> bool:
    """Whether the step of this name makes of so many values what the right one does not."""
    make = MAKERS.get(name)
    if make is None:
        return False
    sample = make_sample(length)
    found, right = make(step, sample), make(getattr(CORRECT, name), sample)
    return not all(map(np.array_equal, found, right))


def _of_values(weights: Weights) -> tuple[Any, ...]:
    return weights.Wv, weights.bv, weights.Wo, weights.bo
