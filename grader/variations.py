"""Right variations of the definition: heads that share keys and values, slopes for positions."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from grader.definition import Weights
from grader.model import Array


def share_heads(weights: Weights, num_heads: int, kv_heads: int, in_turn: bool = False) -> Weights:
    """The weights with only `kv_heads` different heads of keys and values, each used by several.

    Neighbouring query heads use the same one; `in_turn`, those that are `kv_heads` apart.
    Source: Ainslie et al., "GQA" (2023).
    """
    names = [name for name in ("Wk", "bk", "Wv", "bv") if getattr(weights, name) is not None]
    thin = {name: thin_heads(getattr(weights, name), num_heads, kv_heads) for name in names}
    return replace(
        weights, **{n: spread_heads(x, num_heads, kv_heads, in_turn) for n, x in thin.items()}
    )


def tie(weights: Weights, pair: str) -> Weights:
    """The weights with one projection for both of `pair`, such as "kv"; as they are for ""."""
    if not pair:
        return weights
    ties = {kind + pair[1]: getattr(weights, kind + pair[0]) for kind in "Wb"}
    return replace(weights, **ties)


def total_ties(weights: Weights, pair: str) -> Weights:
    """Gradients of `weights`, those of the projections that are one added up in both."""
    totals: dict[str, Any] = {}
    for kind in "Wb" if pair else "":
        parts = [getattr(weights, kind + name) for name in pair]
        if parts[0] is not None:
            totals |= dict.fromkeys((kind + name for name in pair), sum(parts))
    return replace(weights, **totals)


def spread_heads(thin: Array, num_heads: int, kv_heads: int, in_turn: bool = False) -> Array:
    """[kv_heads * d, ..] -> [num_heads * d, ..], each head as often as it is used."""
    heads = np.arange(num_heads)
    chosen = heads % kv_heads if in_turn else heads * kv_heads // num_heads
    apart = thin.reshape(kv_heads, -1, *thin.shape[1:])
    return apart[chosen].reshape(-1, *thin.shape[1:])


def total_heads(full: Array, num_heads: int, kv_heads: int) -> Array:
    """[num_heads * d, ..] -> the same, each head replaced by the sum of those that share one."""
    apart = full.reshape(kv_heads, num_heads // kv_heads, -1, *full.shape[1:])
    return spread_heads(apart.sum(axis=1).reshape(-1, *full.shape[1:]), num_heads, kv_heads)


def thin_heads(full: Array, num_heads: int, kv_heads: int, in_turn: bool = False) -> Array:
    """[num_heads * d, ..] -> [kv_heads * d, ..]: each head that is used by several, once."""
    apart = full.reshape(num_heads, -1, *full.shape[1:])
    chosen = apart[:kv_heads] if in_turn else apart[:: num_heads // kv_heads]
    return chosen.reshape(-1, *full.shape[1:])


def lean(absolute: bool, powers: bool) -> Callable[[Array], Array]:
    """Scores [b, h, q, k] less a slope for each head times the distance of key and query.

    The distance is `absolute` or that from the query back to the key; slopes are a geometric series
    from 2^(-8 / h), or, with `powers`, for other numbers of heads than powers of two put together
    from those of the nearest. Source: Press et al., "Train Short, Test Long" (2022).
    """

    def lean(scores: Array) -> Array:
        heads, q_len, kv_len = scores.shape[1:]
        back = np.arange(q_len)[:, None] - np.arange(kv_len)
        slopes = _slopes_by_powers(heads) if powers else _slopes(heads)
        return scores - slopes[:, None, None] * (np.abs(back) if absolute else back)

    return lean


def _slopes(heads: int) -> Array:
    return 2.0 ** (-8.0 / heads * np.arange(1, heads + 1))


def _slopes_by_powers(heads: int) -> Array:
    nearest = 2 ** int(math.log2(heads))
    return np.concatenate([_slopes(nearest), _slopes(2 * nearest)[0::2]])[:heads]


def hide_padded_queries(visible: Array) -> Array:
    """Tokens of the one sequence that no query sees are padding; as queries they see nothing."""
    return visible & ~_padded(visible)[:, None, :, None]


def blank_padded_queries(output: Array, visible: Array | None) -> Array:
    """The output of such tokens is 0."""
    return output if visible is None else np.where(_padded(visible)[..., None], 0.0, output)


def _padded(visible: Array) -> Array:
    """[b, l]: what is hidden from every query."""
    return np.asarray(~visible.any(axis=(1, 2)))


# What a contract may say of positions inside beside those of rotary.py, and what it stands for.
UNKNOWN = "unknown"
LEANS = {
    "slopes": lean(absolute=False, powers=False),
    "slopes-powers": lean(absolute=False, powers=True),
    "slopes-absolute": lean(absolute=True, powers=False),
    "slopes-absolute-powers": lean(absolute=True, powers=True),
}
