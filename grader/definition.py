"""Multi-head attention in float64 numpy: the expected values.

Source: Vaswani et al., "Attention Is All You Need" (2017), section 3.2. Each step of the forward
pass is one entry of `Steps`; a known mistake is the same definition with one step replaced.

Legend: b batch, q q_len, k kv_len, h num_heads, d head_dim, m d_model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from grader.model import Array

Store = Callable[[Array], Array]


@dataclass(frozen=True)
class Weights:
    """The projections in `nn.Linear` form, y = x @ W.T + b. A bias of None is no bias.

    Wq, Wk, Wv: [h*d, m]; bq, bk, bv: [h*d]; Wo: [m, h*d] or None (no output projection); bo: [m].
    """

    Wq: Array
    Wk: Array
    Wv: Array
    Wo: Array | None
    bq: Array | None = None
    bk: Array | None = None
    bv: Array | None = None
    bo: Array | None = None


@dataclass(frozen=True)
class Activations:
    """Every intermediate of one forward pass.

    q: [b, h, q, d]; k, v: [b, h, k, d]; raw, scaled, masked, weights: [b, h, q, k];
    context: [b, h, q, d]; merged: [b, q, h*d]; output: [b, q, m].
    """

    q: Array
    k: Array
    v: Array
    raw: Array
    scaled: Array
    masked: Array
    weights: Array
    context: Array
    merged: Array
    output: Array


def linear(x: Array, weight: Array | None, bias: Array | None) -> Array:
    """X [.., in] -> [.., out]; a weight of None is the identity."""
    product = x if weight is None else x @ weight.T
    return product if bias is None else product + bias


def split_heads(x: Array, num_heads: int) -> Array:
    """[b, l, h*d] -> [b, h, l, d]."""
    batch, length, width = x.shape
    return x.reshape(batch, length, num_heads, width // num_heads).transpose(0, 2, 1, 3)


def merge_heads(x: Array) -> Array:
    """[b, h, q, d] -> [b, q, h*d]."""
    batch, num_heads, length, head_dim = x.shape
    return x.transpose(0, 2, 1, 3).reshape(batch, length, num_heads * head_dim)


def keep_weights(weights: Weights) -> Weights:
    """Each projection is used for its own purpose; mistakes exchange them here."""
    return weights


def keep_visible(visible: Array) -> Array:
    """The mask is taken as it is meant; mistakes read it differently here."""
    return visible


def keep_direction(x: Array, direction: int = 1) -> Array:
    """Queries and keys [b, h, l, d] know no positions; a file of its own kind may turn them."""
    return x


def keep_scores(scores: Array) -> Array:
    """Nothing is added to the scores; a file of its own kind may add a bias for positions here."""
    return scores


def keep_inputs(query: Array, key: Array, value: Array) -> tuple[Array, Array, Array]:
    """Queries come from query, keys from key, values from value; mistakes confuse them here."""
    return query, key, value


def keep_heads(q: Array, k: Array, v: Array) -> tuple[Array, Array, Array]:
    """Q, k and v go on as they were split; mistakes do things to one of them here."""
    return q, k, v


def score(q: Array, k: Array) -> Array:
    """Q [b, h, q, d], k [b, h, k, d] -> dot products [b, h, q, k]."""
    return q @ k.swapaxes(-1, -2)


def scale(scores: Array, head_dim: int, d_model: int) -> Array:
    """Divide by sqrt(head_dim): unit-variance queries and keys then give unit-variance scores."""
    return scores / np.sqrt(head_dim)


def hide(scores: Array, visible: Array | None) -> Array:
    """Put -inf where `visible` (broadcastable to [b, h, q, k]) is False."""
    return scores if visible is None else np.where(visible, scores, -np.inf)


def softmax(scores: Array) -> Array:
    """Softmax over the keys; a row with no visible key is all zeros."""
    if scores.shape[-1] == 0:
        return scores
    top = scores.max(axis=-1, keepdims=True)
    exps = np.exp(scores - np.where(np.isfinite(top), top, 0.0))
    total = exps.sum(axis=-1, keepdims=True)
    return exps / np.where(total == 0.0, 1.0, total)


def after_softmax(weights: Array, visible: Array | None) -> Array:
    """Nothing happens to the weights between softmax and the mix; mistakes put things here."""
    return weights


def share_dead_rows(weights: Array, visible: Array | None) -> Array:
    """Rows that see nothing get equal weights, as after a finite fill; no exercise asks for it."""
    if visible is None:
        return weights
    dead = ~np.broadcast_to(visible, weights.shape).any(axis=-1, keepdims=True)
    return np.where(dead, 1.0 / weights.shape[-1], weights)


def mix(weights: Array, v: Array) -> Array:
    """Weights [b, h, q, k], v [b, h, k, d] -> [b, h, q, d]."""
    return weights @ v


def project(merged: Array, weights: Weights) -> Array:
    """Merged [b, q, h*d] -> output [b, q, m]."""
    return linear(merged, weights.Wo, weights.bo)


def finish(output: Array, query: Array) -> Array:
    """Nothing surrounds the attention; a file of its own kind may add the query here."""
    return output


def keep_output(output: Array, visible: Array | None) -> Array:
    """Padded queries get an output like any other; a file of its own kind may leave them blank."""
    return output


def add_query(output: Array, query: Array) -> Array:
    """A residual connection inside the module."""
    return output + query


@dataclass(frozen=True)
class Steps:
    """The forward pass, step by step; replace one and you have a known mistake."""

    inputs: Callable[[Array, Array, Array], tuple[Array, Array, Array]] = keep_inputs
    weights: Callable[[Weights], Weights] = keep_weights
    visible: Callable[[Array], Array] = keep_visible
    split: Callable[[Array, int], Array] = split_heads
    heads: Callable[[Array, Array, Array], tuple[Array, Array, Array]] = keep_heads
    turn: Callable[[Array, int], Array] = keep_direction
    score: Callable[[Array, Array], Array] = score
    scale: Callable[[Array, int, int], Array] = scale
    lean: Callable[[Array], Array] = keep_scores
    hide: Callable[[Array, Array | None], Array] = hide
    softmax: Callable[[Array], Array] = softmax
    after_softmax: Callable[[Array, Array | None], Array] = after_softmax
    mix: Callable[[Array, Array], Array] = mix
    merge: Callable[[Array], Array] = merge_heads
    project: Callable[[Array, Weights], Array] = project
    finish: Callable[[Array, Array], Array] = finish
    blank: Callable[[Array, Array | None], Array] = keep_output


CORRECT = Steps()


def exact(x: Array) -> Array:
    """Store an intermediate as it is; see precision.py for the stores that round."""
    return x


def attend(
    weights: Weights,
    query: Array,
    key: Array,
    value: Array,
    num_heads: int,
    visible: Array | None = None,
    steps: Steps = CORRECT,
    store: Store = exact,
    rows: Sequence[int] = (),
) -> Activations:
    """Query [b, q, m], key and value [b, k, m], visible -> [b, h, q, k] -> every intermediate.

    `store` is applied to each intermediate, which emulates the rounding of a narrower dtype. With
    `rows`, what comes after q is of these queries alone, and so is `visible`.
    """
    weights = steps.weights(weights)
    query, key, value = steps.inputs(query, key, value)
    if visible is not None:
        visible = steps.visible(visible)
    q, k, v = make_heads(weights, (query, key, value), num_heads, steps, store)
    q, query = take_rows(q, query, rows)
    raw, scaled = compare(q, k, query.shape[-1], steps, store)
    masked, shares = weigh(scaled, visible, steps, store)
    context, merged, projected = gather(shares, v, weights, steps, store)
    output = complete(projected, query, visible, steps, store)
    return Activations(q, k, v, raw, scaled, masked, shares, context, merged, output)


def make_heads(
    weights: Weights,
    inputs: tuple[Array, Array, Array],
    num_heads: int,
    steps: Steps,
    store: Store = exact,
) -> tuple[Array, Array, Array]:
    """Query [b, q, m], key and value [b, k, m] -> q [b, h, q, d], k and v [b, h, k, d]."""
    query, key, value = inputs
    q = steps.split(store(linear(query, weights.Wq, weights.bq)), num_heads)  # b h q d
    k = steps.split(store(linear(key, weights.Wk, weights.bk)), num_heads)  # b h k d
    v = steps.split(store(linear(value, weights.Wv, weights.bv)), num_heads)  # b h k d
    q, k, v = steps.heads(q, k, v)
    if steps.turn is not keep_direction:
        q, k = store(steps.turn(q, 1)), store(steps.turn(k, 1))
    return q, k, v


def take_rows(q: Array, query: Array, rows: Sequence[int]) -> tuple[Array, Array]:
    """Some of the queries [b, h, q, d], and what they are made of, [b, q, m]; all without `rows`.

    Raises ValueError where there are no such.
    """
    if not rows:
        return q, query
    if q.shape[2] != query.shape[1]:
        raise ValueError("queries are not where they should be")
    return q[:, :, rows], query[:, rows]


def compare(
    q: Array, k: Array, d_model: int, steps: Steps, store: Store = exact
) -> tuple[Array, Array]:
    """Q [b, h, q, d], k [b, h, k, d] -> scores and scaled scores, [b, h, q, k]."""
    raw = store(steps.score(q, k))
    return raw, store(steps.lean(steps.scale(raw, q.shape[-1], d_model)))


def weigh(
    scaled: Array, visible: Array | None, steps: Steps, store: Store = exact
) -> tuple[Array, Array]:
    """Scaled scores -> masked scores and weights, all [b, h, q, k]."""
    masked = steps.hide(scaled, visible)
    return masked, store(steps.after_softmax(store(steps.softmax(masked)), visible))


def gather(
    shares: Array, v: Array, weights: Weights, steps: Steps, store: Store = exact
) -> tuple[Array, Array, Array]:
    """Weights [b, h, q, k], v [b, h, k, d] -> context, merged [b, q, h*d], projected [b, q, m]."""
    context = store(steps.mix(shares, v))
    merged = steps.merge(context)
    return context, merged, store(steps.project(merged, weights))


def complete(
    projected: Array, query: Array, visible: Array | None, steps: Steps, store: Store = exact
) -> Array:
    """What surrounds the attention: projected [b, q, m] -> output [b, q, m]."""
    return steps.blank(store(steps.finish(projected, query)), visible)
