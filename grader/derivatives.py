"""The gradients of the definition, written out by hand; in float64, or in a narrower dtype's steps.

Legend: b batch, q q_len, k kv_len, h num_heads, d head_dim, m d_model.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from grader.definition import (
    CORRECT,
    Activations,
    Steps,
    Store,
    Weights,
    exact,
    merge_heads,
    split_heads,
)
from grader.model import Array


@dataclass(frozen=True)
class Gradients:
    """Gradients of sum(output * cotangent): of the three inputs, and of the weights by name."""

    query: Array
    key: Array
    value: Array
    weights: dict[str, Array]


def differentiate(
    weights: Weights,
    query: Array,
    key: Array,
    value: Array,
    acts: Activations,
    cotangent: Array,
    store: Store = exact,
    steps: Steps = CORRECT,
) -> Gradients:
    """Back through `attend` with the correct steps, or those turned; cotangent [b, q, m].

    For self-attention the gradient of x is the sum of the three. `store` is as in `attend`.
    """
    num_heads = acts.q.shape[1]
    merged_grad = cotangent if weights.Wo is None else store(cotangent @ weights.Wo)  # b q (h d)
    context_grad = split_heads(merged_grad, num_heads)  # b h q d
    weights_grad = store(context_grad @ acts.v.swapaxes(-1, -2))  # b h q k
    v_grad = store(acts.weights.swapaxes(-1, -2) @ context_grad)  # b h k d
    inner = store((weights_grad * acts.weights).sum(axis=-1, keepdims=True))  # b h q 1
    raw_grad = store(acts.weights * (weights_grad - inner))  # b h q k
    raw_grad = store(raw_grad / np.sqrt(acts.q.shape[-1]))  # b h q k
    q_grad = merge_heads(steps.turn(store(raw_grad @ acts.k), -1))  # b q (h d)
    k_grad = merge_heads(steps.turn(store(raw_grad.swapaxes(-1, -2) @ acts.q), -1))  # b k (h d)
    v_flat = merge_heads(v_grad)  # b k (h d)
    found = {
        "Wq": outer(q_grad, query),
        "Wk": outer(k_grad, key),
        "Wv": outer(v_flat, value),
        "Wo": outer(cotangent, acts.merged),
        "bq": q_grad.sum(axis=(0, 1)),
        "bk": k_grad.sum(axis=(0, 1)),
        "bv": v_flat.sum(axis=(0, 1)),
        "bo": cotangent.sum(axis=(0, 1)),
    }
    names = [f.name for f in fields(Weights) if getattr(weights, f.name) is not None]
    return Gradients(
        store(q_grad @ weights.Wq),
        store(k_grad @ weights.Wk),
        store(v_flat @ weights.Wv),
        {name: store(found[name]) for name in names},
    )


def outer(out_grad: Array, x: Array) -> Array:
    """Gradient of a linear map's weight: out_grad [b, l, o], x [b, l, i] -> [o, i]."""
    return np.einsum("blo,bli->oi", out_grad, x)
