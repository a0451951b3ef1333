"""Projections that are exchanged, left out or used twice, and inputs that are confused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from grader.definition import Weights, linear
from grader.model import Array

Inputs = tuple[Array, Array, Array]


def instead(**roles: str) -> Callable[[Weights], Weights]:
    """`v="k"`: the key projection makes the values too."""

    def exchange(weights: Weights) -> Weights:
        found: dict[str, Any] = {}
        for role, other in roles.items():
            found[f"W{role}"] = getattr(weights, f"W{other}")
            found[f"b{role}"] = getattr(weights, f"b{other}")
        return replace(weights, **found)

    return exchange


def unused(role: str) -> Callable[[Weights], Weights]:
    """The projection of q, k or v is left out: the input itself is split into heads."""

    def leave_out(weights: Weights) -> Weights:
        found: dict[str, Any] = {f"W{role}": np.eye(*getattr(weights, f"W{role}").shape)}
        return replace(weights, **found | {f"b{role}": None})

    return leave_out


def without_bias(*roles: str) -> Callable[[Weights], Weights]:
    """Biases that exist and are never added."""

    def drop(weights: Weights) -> Weights:
        none: dict[str, Any] = {f"b{role}": None for role in roles}
        return replace(weights, **none)

    return drop


def without_output_bias(merged: Array, weights: Weights) -> Array:
    """The bias of the output projection is never added."""
    return linear(merged, weights.Wo, None)


def skip(merged: Array, weights: Weights) -> Array:
    """The merged heads are returned as they are."""
    return merged


def twice(merged: Array, weights: Weights) -> Array:
    """The output projection is applied to its own result."""
    once = linear(merged, weights.Wo, weights.bo)
    return linear(once, weights.Wo, weights.bo)


def key_for_value(query: Array, key: Array, value: Array) -> Inputs:
    """The values are made of the key input."""
    return query, key, key


def value_for_key(query: Array, key: Array, value: Array) -> Inputs:
    """The keys are made of the value input."""
    return query, value, value


def exchanged(query: Array, key: Array, value: Array) -> Inputs:
    """Keys are made of the value input, and values of the key input."""
    return query, value, key


def query_for_all(query: Array, key: Array, value: Array) -> Inputs:
    """Keys and values are made of the query input: self-attention."""
    return query, query, query
