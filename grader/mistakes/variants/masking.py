"""Masks read, joined, placed or filled in a wrong way."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from grader.model import Array


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
    """Visible when one of the masks says so, where both should; without padding all is well."""
    padded = not_causal(visible)
    return visible if padded.all() else _tri(visible, 0) | padded


def reversed_edge(visible: Array) -> Array:
    """The causal mask is the wrong triangle: the past is hidden, not the future."""
    seen = np.triu(np.ones(visible.shape[-2:], dtype=bool), _offset(visible))
    return seen & not_causal(visible)


def causal_unless_padded(visible: Array) -> Array:
    """Where a padding mask is given, it takes the place of the causal one."""
    padded = not_causal(visible)
    return visible if padded.all() else padded


def padding_of_queries(visible: Array) -> Array:
    """The padding mask lies along the queries, so rows are hidden and keys are not."""
    is_padding = (visible == visible[..., :1, :]).all()
    square = visible.shape[-2] == visible.shape[-1]
    return visible.swapaxes(-1, -2) if square and is_padding else visible


def causal_padding_of_queries(visible: Array) -> Array:
    """The same beside a causal mask."""
    if visible.shape[-2] != visible.shape[-1]:
        return visible
    return _tri(visible, 0) & padding_of_queries(not_causal(visible))


def shifted(by: int) -> Callable[[Array], Array]:
    """Each key gets the mask of its neighbour."""

    def visible_shifted(visible: Array) -> Array:
        return np.roll(visible, by, axis=-1)

    return visible_shifted


def moved_edge(by: int) -> Callable[[Array], Array]:
    """The same where padding is counted: a real token stands before the first, none after all."""

    def visible_moved(visible: Array) -> Array:
        found = np.roll(visible, by, axis=-1)
        found[..., slice(by) if by > 0 else slice(by, None)] = by > 0
        return found

    return visible_moved


SHIFTS = (shifted(1), shifted(-1), moved_edge(1), moved_edge(-1))


def beside_causal(of_padding: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """A mistake in the padding mask alone; the causal mask is right."""

    def visible_to_the_past(visible: Array) -> Array:
        return _tri(visible, 0) & of_padding(not_causal(visible))

    return visible_to_the_past


def first_head(visible: Array) -> Array:
    """Every head gets the mask of the first."""
    return np.broadcast_to(visible[:, :1], visible.shape)


def heads_in_turn(visible: Array) -> Array:
    """Masks repeated sample by sample where heads are folded into the batch head by head."""
    batch, num_heads = visible.shape[:2]
    turn = (np.arange(batch * num_heads) // num_heads).reshape(num_heads, batch).T
    return visible[turn, np.arange(num_heads)]


def _offset(visible: Array) -> int:
    return int(visible.shape[-1] - visible.shape[-2])


def _tri(visible: Array, ahead: int) -> Array:
    return np.tri(visible.shape[-2], visible.shape[-1], k=_offset(visible) + ahead, dtype=bool)


def leave_visible(scores: Array, visible: Array | None) -> Array:
    """Nothing is hidden before the softmax."""
    return scores


def zero_hidden(weights: Array, visible: Array | None) -> Array:
    """Weights are zeroed after the softmax, so rows no longer sum to one."""
    return weights if visible is None else np.where(visible, weights, 0.0)


def fill_with(value: float) -> Callable[[Array, Array | None], Array]:
    """Hidden scores become `value`, from which the softmax still takes a share."""

    def hide(scores: Array, visible: Array | None) -> Array:
        return scores if visible is None else np.where(visible, scores, value)

    return hide


def multiply(scores: Array, visible: Array | None) -> Array:
    """Scores are multiplied by the mask, so that hidden ones become 0."""
    return scores if visible is None else scores * visible


def add_as_it_is(scores: Array, visible: Array | None) -> Array:
    """The mask is added as ones and zeros."""
    return scores if visible is None else scores + visible


def subtract_hidden(scores: Array, visible: Array | None) -> Array:
    """Hidden scores get infinity added, not taken away: they win the softmax."""
    return scores if visible is None else np.where(visible, scores, 1e9)


def nan_dead_rows(weights: Array, visible: Array | None) -> Array:
    """Rows that see nothing are 0 / 0, as after a softmax over nothing but -inf."""
    if visible is None:
        return weights
    dead = ~np.broadcast_to(visible, weights.shape).any(axis=-1, keepdims=True)
    return np.where(dead, np.nan, weights)
