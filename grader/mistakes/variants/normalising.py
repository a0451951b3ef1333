"""Other things than a softmax over the keys."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from grader.definition import mix, softmax
from grader.model import Array


def over(*axes: int) -> Callable[[Array], Array]:
    """Softmax over other axes than the keys.

    Where all is hidden along them the weights are equal, as after a fill that is not infinite; with
    an infinite one the output is NaN, and nothing can be compared.
    """

    def softmax_over(scores: Array) -> Array:
        top = scores.max(axis=axes, keepdims=True)
        dead = np.isneginf(top)
        exps = np.exp(np.where(dead, 0.0, scores) - np.where(dead, 0.0, top))
        return exps / exps.sum(axis=axes, keepdims=True)

    return softmax_over


def nothing(scores: Array) -> Array:
    """The scores are used as weights."""
    return scores


def nothing_where_visible(scores: Array) -> Array:
    """The scores are used as weights, and those of hidden keys are zeros."""
    return np.where(np.isneginf(scores), 0.0, scores)


def sigmoid(scores: Array) -> Array:
    """Each score is squashed by itself; rows no longer sum to one."""
    with np.errstate(over="ignore"):
        return 1.0 / (1.0 + np.exp(-scores))


def twice(scores: Array) -> Array:
    """The weights go through a second softmax, which makes them nearly equal."""
    return softmax(softmax(scores))


def twice_hidden(scores: Array) -> Array:
    """The same where what is hidden is hidden from the second one too."""
    return softmax(np.where(np.isneginf(scores), scores, softmax(scores)))


def logarithm(scores: Array) -> Array:
    """log_softmax: the logarithms of the weights are used as weights."""
    top = scores.max(axis=-1, keepdims=True)
    return scores - top - np.log(np.exp(scores - top).sum(axis=-1, keepdims=True))


def bare_exponentials(scores: Array) -> Array:
    """The exponentials are not divided by their sum."""
    return np.exp(scores)


def shifted_exponentials(scores: Array) -> Array:
    """The same after the maximum is subtracted."""
    return np.exp(scores - scores.max(axis=-1, keepdims=True))


def padded_shifted(by: float) -> Callable[[Array], Array]:
    """The sum gets `by` added, after the maximum is subtracted."""

    def softmax_padded(scores: Array) -> Array:
        top = scores.max(axis=-1, keepdims=True)
        exps = np.exp(scores - np.where(np.isfinite(top), top, 0.0))
        return exps / (exps.sum(axis=-1, keepdims=True) + by)

    return softmax_padded


def padded_bare(by: float) -> Callable[[Array], Array]:
    """The same of the exponentials as they are: a key more, whose score is the logarithm of it."""

    def softmax_padded(scores: Array) -> Array:
        exps = np.exp(scores)
        return exps / (exps.sum(axis=-1, keepdims=True) + by)

    return softmax_padded


def largest_only(scores: Array) -> Array:
    """The largest score gets all the weight."""
    return np.equal(scores, scores.max(axis=-1, keepdims=True)).astype(float)


def mix_transposed(weights: Array, v: Array) -> Array:
    """The weights are transposed before the mix, where the lengths allow it."""
    square = weights.shape[-1] == weights.shape[-2]
    return mix(weights.swapaxes(-1, -2) if square else weights, v)
