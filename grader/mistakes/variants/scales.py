"""Wrong scales, and wrong scores to scale."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from grader.definition import mix
from grader.model import Array


def none(scores: Array, head_dim: int, d_model: int) -> Array:
    """The division is left out."""
    return scores


def by_head_dim(scores: Array, head_dim: int, d_model: int) -> Array:
    """Divided by d, not by its root; dividing twice by the root is the same function."""
    return scores / head_dim


def by_fourth_root(scores: Array, head_dim: int, d_model: int) -> Array:
    """Divided by the root of the root, as when only one of q and k gets its share."""
    return scores / head_dim**0.25


def by_power(power: float) -> Callable[[Array, int, int], Array]:
    """Divided by some other power of the head size; a negative one multiplies."""

    def scale(scores: Array, head_dim: int, d_model: int) -> Array:
        return scores / float(head_dim) ** power

    return scale


def by_sqrt_d_model(scores: Array, head_dim: int, d_model: int) -> Array:
    """Divided by the root of the model's width."""
    return scores / np.sqrt(d_model)


def by_d_model(scores: Array, head_dim: int, d_model: int) -> Array:
    """Divided by the model's width."""
    return scores / d_model


def by_sqrt_num_heads(scores: Array, head_dim: int, d_model: int) -> Array:
    """Divided by the root of the number of heads."""
    return scores / np.sqrt(d_model / head_dim)


def by_sqrt_axis(axis: int) -> Callable[[Array, int, int], Array]:
    """Divided by the root of another axis of the scores: the batch, the queries, the keys."""

    def scale(scores: Array, head_dim: int, d_model: int) -> Array:
        return scores / np.sqrt(scores.shape[axis])

    return scale


def by_floored_root(scores: Array, head_dim: int, d_model: int) -> Array:
    """Divided by the root rounded down, as integer arithmetic does."""
    return scores / np.floor(np.sqrt(head_dim))


def multiplied(scores: Array, head_dim: int, d_model: int) -> Array:
    """Multiplied where it should be divided."""
    return scores * np.sqrt(head_dim)


def negated(scores: Array, head_dim: int, d_model: int) -> Array:
    """The sign is turned, so the least similar keys get the largest weights."""
    return -scores / np.sqrt(head_dim)


def mix_then_scale(weights: Array, v: Array) -> Array:
    """The scale comes after the softmax."""
    return mix(weights / np.sqrt(v.shape[-1]), v)


def of_reshaped_key(q: Array, k: Array) -> Array:
    """The key is reshaped to [b, h, d, k] where it should be transposed."""
    batch, num_heads, length, head_dim = k.shape
    return q @ np.ascontiguousarray(k).reshape(batch, num_heads, head_dim, length)
