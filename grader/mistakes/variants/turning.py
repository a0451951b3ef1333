"""Rotary positions gone wrong: what becomes of heads [b, h, l, d] before they are turned.

What follows is the right turn, so what is to be another is turned back first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from grader.definition import merge_heads, split_heads
from grader.model import Array
from grader.rotary import PAIRINGS, Turn

Move = Callable[[Turn, Array], Array]
Heads = tuple[Array, Array, Array]


@dataclass(frozen=True)
class Turned:
    """As a step on q, k and v: each is moved in its own way; None for queries and keys is right."""

    turn: Turn
    query: Move | None = None
    key: Move | None = None
    value: Move | None = None

    def __call__(self, q: Array, k: Array, v: Array) -> Heads:
        """What the right turn of q and k makes that which is wanted."""
        wrong_q = q if self.query is None else self.turn(self.query(self.turn, q), -1)
        wrong_k = k if self.key is None else self.turn(self.key(self.turn, k), -1)
        return wrong_q, wrong_k, v if self.value is None else self.value(self.turn, v)


@dataclass(frozen=True)
class Crossed:
    """As a step on q, k and v: keys with the sines of queries, which are `turned` already or not.

    Without `key`, queries with those of keys.
    """

    turn: Turn
    key: bool
    turned: bool = False

    def __call__(self, q: Array, k: Array, v: Array) -> Heads:
        """Raises ValueError where there are not as many keys as queries."""
        cos, sin = self.turn.tables(q.shape[-2], q.shape[-1])
        own, other = (k, q) if self.key else (q, k)
        other = self.turn(other) if self.turned else other
        mixed = self.turn(own * cos + self.turn.quarter(other) * sin, -1)
        return (q, mixed, v) if self.key else (mixed, k, v)


def still(turn: Turn, x: Array) -> Array:
    """Not turned at all."""
    return x


def ahead(turn: Turn, x: Array) -> Array:
    """Turned as queries and keys should be."""
    return turn(x)


def back(turn: Turn, x: Array) -> Array:
    """Turned in the other direction."""
    return turn(x, -1)


def twice(turn: Turn, x: Array) -> Array:
    """Turned, and turned again."""
    return turn(turn(x))


def in_other_pairs(turn: Turn, x: Array) -> Array:
    """Turned in the other pairing."""
    return _other(turn)(x)


def by_other_tables(turn: Turn, x: Array) -> Array:
    """Angles that stand as the other pairing has them, and pairs as this one has."""
    cos, sin = _other(turn).tables(x.shape[-2], x.shape[-1])
    return x * cos + turn.quarter(x) * sin


def across_heads(turn: Turn, x: Array) -> Array:
    """Turned before it is split: as if all heads were one."""
    whole = turn(merge_heads(x)[:, None])[:, 0]
    return split_heads(whole, x.shape[1])


def without_sign(turn: Turn, x: Array) -> Array:
    """No number of a pair changes its sign on the way to the other's place."""
    cos, sin = turn.tables(x.shape[-2], x.shape[-1])
    return x * cos + turn.quarter(np.ones_like(x)) * turn.quarter(x) * sin


def with_second_mixed(turn: Turn, x: Array) -> Array:
    """Cosine and sine have changed places for the second number of each pair."""
    cos, sin = turn.tables(x.shape[-2], x.shape[-1])
    is_second = turn.quarter(np.ones_like(x)) > 0.0
    return np.where(is_second, x * sin + turn.quarter(x) * cos, turn(x))


def by_one_wave(which: int) -> Move:
    """Both products with the same table: 0 is cosine, 1 is sine."""

    def turn_by_wave(turn: Turn, x: Array) -> Array:
        wave = turn.tables(x.shape[-2], x.shape[-1])[which]
        count = turn.count(x.shape[-1])
        found = (x + turn.quarter(x)) * wave
        found[..., count:] = x[..., count:]
        return found

    return turn_by_wave


BOTH: dict[str, Sequence[Move]] = {
    "rotary-mispaired": (by_other_tables, across_heads),
    "rotary-no-rotation": (
        without_sign,
        with_second_mixed,
        by_one_wave(0),
        by_one_wave(1),
    ),
}


def ways(mistake: str, turn: Turn) -> list[dict[str, Any]]:
    """Each way to make one of these mistakes where this is how to turn, likeliest first."""
    found: list[Callable[[Array, Array, Array], Heads]]
    one = Turned(turn)
    if mistake == "rotary-on-values":
        found = [replace(one, value=ahead)]
    elif mistake == "rotary-uneven":
        alone: Sequence[Move] = (still, back, twice)
        found = [replace(one, key=move) for move in alone]
        found += [replace(one, query=move) for move in alone]
        found += [Crossed(turn, key=True, turned=True), Crossed(turn, key=True)]
        found += [Crossed(turn, key=False)]
    else:
        found = [replace(one, query=move, key=move) for move in BOTH[mistake]]
    if mistake == "rotary-mispaired":
        found += [replace(one, key=in_other_pairs), replace(one, query=in_other_pairs)]
    return [{"heads": way} for way in found]


def _other(turn: Turn) -> Turn:
    (other,) = set(PAIRINGS) - {turn.pairing}
    return replace(turn, pairing=other)
