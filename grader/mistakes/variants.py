"""Wrong versions of single steps. Shapes as in definition.py: b batch, h heads, q, k, d, m."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from grader.definition import Weights, mix, softmax
from grader.model import Array


def no_scale(scores: Array, head_dim: int, d_model: int) -> Array:
    """The division is left out."""
    return scores


def by_head_dim(scores: Array, head_dim: int, d_model: int) -> Array:
    """Divided by d, not by its root; dividing twice by the root is the same function."""
    return scores / head_dim


def by_sqrt_d_model(scores: Array, head_dim: int, d_model: int) -> Array:
    """Divided by the root of the model's width."""
    return scores / np.sqrt(d_model)


def by_d_model(scores: Array, head_dim: int, d_model: int) -> Array:
    """Divided by the model's width."""
    return scores / d_model


def by_sqrt_num_heads(scores: Array, head_dim: int, d_model: int) -> Array:
    """Divided by the root of the number of heads."""
    return scores / np.sqrt(d_model / head_dim)


def by_floored_root(scores: Array, head_dim: int, d_model: int) -> Array:
    """Divided by the root rounded down, as integer arithmetic does."""
    return scores / np.floor(np.sqrt(head_dim))


def multiplied(scores: Array, head_dim: int, d_model: int) -> Array:
    """Multiplied where it should be divided."""
    return scores * np.sqrt(head_dim)


def mix_then_scale(weights: Array, v: Array) -> Array:
    """The scale comes after the softmax."""
    return mix(weights / np.sqrt(v.shape[-1]), v)


def softmax_over(axis: int) -> Callable[[Array], Array]:
    """Softmax over another axis than the keys.

    Where all is hidden along it the weights are equal, as after a fill that is not infinite; with
    an infinite one the output is NaN, and nothing can be compared.
    """

    def softmax(scores: Array) -> Array:
        top = scores.max(axis=axis, keepdims=True)
        dead = np.isneginf(top)
        exps = np.exp(np.where(dead, 0.0, scores) - np.where(dead, 0.0, top))
        return exps / exps.sum(axis=axis, keepdims=True)

    return softmax


def no_softmax(scores: Array) -> Array:
    """The scores are used as weights."""
    return scores


def sigmoid(scores: Array) -> Array:
    """Each score is squashed by itself; rows no longer sum to one."""
    with np.errstate(over="ignore"):
        return 1.0 / (1.0 + np.exp(-scores))


def softmax_twice(scores: Array) -> Array:
    """The weights go through a second softmax, which makes them nearly equal."""
    return softmax(softmax(scores))


def split_by_view(x: Array, num_heads: int) -> Array:
    """[b, l, h*d] read as [b, h, l, d] at once: each head gets whole tokens."""
    batch, length, width = x.shape
    return x.reshape(batch, num_heads, length, width // num_heads)


def merge_by_view(x: Array) -> Array:
    """[b, h, q, d] read as [b, q, h*d] at once."""
    batch, num_heads, length, head_dim = x.shape
    return np.ascontiguousarray(x).reshape(batch, length, num_heads * head_dim)


def skip_projection(merged: Array, weights: Weights) -> Array:
    """The merged heads are returned as they are."""
    return merged


def value_weights_from_key(weights: Weights) -> Weights:
    """The key projection makes the values too."""
    return replace(weights, Wv=weights.Wk, bv=weights.bk)


def key_weights_from_query(weights: Weights) -> Weights:
    """The query projection makes the keys too."""
    return replace(weights, Wk=weights.Wq, bk=weights.bq)


def inverted(visible: Array) -> Array:
    """True was taken for hidden."""
    return ~visible


def ignored(visible: Array) -> Array:
    """The mask has no effect."""
    return np.ones_like(visible)


def transposed(visible: Array) -> Array:
    """Queries and keys are exchanged in the mask, where the lengths allow it."""
    return visible.swapaxes(-1, -2) if visible.shape[-1] == visible.shape[-2] else visible


def first_sample(visible: Array) -> Array:
    """Every sample gets the mask of the first."""
    return np.broadcast_to(visible[:1], visible.shape)


def samples_in_turn(visible: Array) -> Array:
    """Masks repeated head by head where heads are folded into the batch sample by sample."""
    batch, num_heads = visible.shape[:2]
    turn = (np.arange(batch * num_heads) % batch).reshape(batch, num_heads)
    return visible[turn, np.arange(num_heads)]


def without_diagonal(visible: Array) -> Array:
    """A query no longer sees its own position."""
    return visible & ~np.eye(visible.shape[-2], visible.shape[-1], k=_offset(visible), dtype=bool)


def one_ahead(visible: Array) -> Array:
    """The causal edge is one position late: each query sees the next key."""
    return _tri(visible, 1) & visible.any(axis=-2, keepdims=True)


def not_causal(visible: Array) -> Array:
    """Only the padding is hidden; the future is not."""
    return np.broadcast_to(visible.any(axis=-2, keepdims=True), visible.shape)


def only_causal(visible: Array) -> Array:
    """Only the future is hidden; the padding is not."""
    return np.broadcast_to(_tri(visible, 0), visible.shape)


def either(visible: Array) -> Array:
    """Visible when one of the masks says so, where both should."""
    return _tri(visible, 0) | not_causal(visible)


def _offset(visible: Array) -> int:
    return int(visible.shape[-1] - visible.shape[-2])


def _tri(visible: Array, ahead: int) -> Array:
    return np.tri(visible.shape[-2], visible.shape[-1], k=_offset(visible) + ahead, dtype=bool)


def leave_visible(scores: Array, visible: Array | None) -> Array:
    """Nothing is hidden before the softmax."""
    return scores


def zero_hidden(weights: Array, visible: Array | None) -> Array:
    """Weights are zeroed after the softmax, so rows no longer sum to one."""
    return weights if visible is None else weights * visible


def fill_with(value: float) -> Callable[[Array, Array | None], Array]:
    """Hidden scores become `value`, from which the softmax still takes a share."""

    def hide(scores: Array, visible: Array | None) -> Array:
        return scores if visible is None else np.where(visible, scores, value)

    return hide
