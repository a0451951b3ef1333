"""Heads split and merged along the wrong axes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from grader.definition import merge_heads, split_heads
from grader.model import Array


def split_by_view(x: Array, num_heads: int) -> Array:
    """[b, l, h*d] read as [b, h, l, d] at once: each head gets whole tokens."""
    batch, length, width = x.shape
    return x.reshape(batch, num_heads, length, width // num_heads)


def merge_by_view(x: Array) -> Array:
    """[b, h, q, d] read as [b, q, h*d] at once."""
    batch, num_heads, length, head_dim = x.shape
    return np.ascontiguousarray(x).reshape(batch, length, num_heads * head_dim)


def merge_after(*axes: int) -> Callable[[Array], Array]:
    """[b, h, q, d] read as [b, q, h*d] after a transpose that does not bring q forward."""

    def merge(x: Array) -> Array:
        return merge_by_view_of(x.transpose(axes), x.shape)

    return merge


def merge_by_view_of(x: Array, shape: tuple[int, ...]) -> Array:
    """Any tensor of as many values, read as [b, q, h*d]; `shape` is that of the heads."""
    batch, num_heads, length, head_dim = shape
    return np.ascontiguousarray(x).reshape(batch, length, num_heads * head_dim)


def keep_tokens(x: Array, num_heads: int) -> Array:
    """[b, l, h*d] -> [b, l, h, d], and no transpose: heads stand where tokens should."""
    batch, length, width = x.shape
    return x.reshape(batch, length, num_heads, width // num_heads)


def merge_tokens(x: Array) -> Array:
    """[b, l, h, d] -> [b, l, h*d]."""
    return x.reshape(*x.shape[:2], -1)


def split_samples(x: Array, num_heads: int) -> Array:
    """[b, l, h*d] read as if the length came first: attention among the samples."""
    return split_heads(x.swapaxes(0, 1), num_heads)


def merge_samples(x: Array) -> Array:
    """The way back from there."""
    return merge_heads(x).swapaxes(0, 1)


def fold_samples(x: Array, num_heads: int) -> Array:
    """[l, b, h*d] read as [b*h, l, d] at once: tokens of several samples in one."""
    batch, length, width = x.shape
    flat = np.ascontiguousarray(x.swapaxes(0, 1))
    return flat.reshape(batch, num_heads, length, width // num_heads)


def unfold_samples(x: Array) -> Array:
    """[b*h, q, d] read as [q, b, h*d] at once."""
    batch, num_heads, length, head_dim = x.shape
    flat = np.ascontiguousarray(x).reshape(length, batch, num_heads * head_dim)
    return flat.swapaxes(0, 1)


def merge_samples_last(x: Array) -> Array:
    """[b, h, q, d] -> [q, b, h, d], read as [b, q, h*d] at once."""
    return merge_by_view_of(x.transpose(2, 0, 1, 3), x.shape)


def merge_into(slot: int) -> Callable[[Array], Array]:
    """[b, h, q, d] -> [b, q, h*d], all heads added up where one should be.

    So every head goes through the part of the output projection that belongs to that one.
    """

    def merge(x: Array) -> Array:
        gathered = np.zeros_like(x)
        gathered[:, slot] = x.sum(axis=1)
        return merge_heads(gathered)

    return merge


def _viewed(x: Array) -> Array:
    return split_by_view(merge_heads(x), x.shape[1])


def view_query(q: Array, k: Array, v: Array) -> tuple[Array, Array, Array]:
    """Only the queries are split by view alone."""
    return _viewed(q), k, v


def view_key(q: Array, k: Array, v: Array) -> tuple[Array, Array, Array]:
    """Only the keys are split by view alone."""
    return q, _viewed(k), v


def view_value(q: Array, k: Array, v: Array) -> tuple[Array, Array, Array]:
    """Only the values are split by view alone."""
    return q, k, _viewed(v)


def first_for_all(q: Array, k: Array, v: Array) -> tuple[Array, Array, Array]:
    """Every head computes what the first one does."""
    first = [np.broadcast_to(x[:, :1], x.shape) for x in (q, k, v)]
    return first[0], first[1], first[2]


def first_query(q: Array, k: Array, v: Array) -> tuple[Array, Array, Array]:
    """Every head uses the queries of the first."""
    return first_for_all(q, k, v)[0], k, v


def first_key(q: Array, k: Array, v: Array) -> tuple[Array, Array, Array]:
    """Every head uses the keys of the first."""
    return q, first_for_all(q, k, v)[1], v


def first_value(q: Array, k: Array, v: Array) -> tuple[Array, Array, Array]:
    """Every head uses the values of the first."""
    return q, k, first_for_all(q, k, v)[2]


def first_key_and_value(q: Array, k: Array, v: Array) -> tuple[Array, Array, Array]:
    """Every head uses the keys and the values of the first."""
    return q, *first_for_all(q, k, v)[1:]


def rectified(q: Array, k: Array, v: Array) -> tuple[Array, Array, Array]:
    """An activation, relu, stands behind the three projections."""
    return np.maximum(q, 0.0), np.maximum(k, 0.0), np.maximum(v, 0.0)
