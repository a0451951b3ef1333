"""Rotary positions: numbers of a head turned in pairs, by an angle that grows with the position."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from grader.model import Array

BASE = 10000.0
# Bases in use go from 100, for pictures, to ten millions; a file has them written out.
LEAST, MOST = 100.0, 1e9
MAX_BASES = 4
NUMBER = re.compile(r"(?<![\w.])\d[\d_]*(?:\.\d*)?(?:e\d+)?(?![\w.])", re.IGNORECASE)
# How much of each head is turned; the rest of it knows no positions.
SHARES = (1.0, 0.5, 0.25, 0.75)
# A head size of which every such share is made of pairs, and of more than one: a single pair is
# the same in either pairing.
WHOLE_PAIRS = 16


def bases_in(source: str) -> list[float]:
    """The usual base, then the numbers of a source that may be another."""
    found = (float(one.replace("_", "")) for one in NUMBER.findall(source))
    return list(dict.fromkeys([BASE, *(one for one in found if LEAST <= one <= MOST)]))[:MAX_BASES]


@dataclass(frozen=True)
class Turn:
    """One kind of rotary positions, as a step of the definition: on q and k [b, h, l, d].

    Source: Su et al., "RoFormer" (2021), section 3.2.2; "halves" is the pairing of GPT-NeoX. With
    a `sense` of -1 all angles are negative: the scores depend on the distance as well.
    """

    pairing: str
    base: float = BASE
    share: float = 1.0
    sense: float = 1.0

    def __call__(self, x: Array, direction: int = 1) -> Array:
        """Turn the first `share` of each head; `direction` -1 turns back."""
        cos, sin = self.tables(x.shape[-2], x.shape[-1])
        return x * cos + self.quarter(x) * (direction * sin)

    def tables(self, length: int, head_dim: int) -> tuple[Array, Array]:
        """The cosine and sine by which each number is turned, [l, d]: 1 and 0 beyond the share."""
        return _tables(self, length, head_dim)

    def quarter(self, x: Array) -> Array:
        """Each pair of x [.., d] turned by a right angle; 0 beyond the share."""
        count = self.count(x.shape[-1])
        turned = np.zeros_like(x)
        turned[..., :count] = PAIRINGS[self.pairing].quarter(x[..., :count])
        return turned

    def count(self, head_dim: int) -> int:
        """How many numbers of a head are turned."""
        return round(self.share * head_dim)

    @property
    def name(self) -> str:
        """What a contract says of its positions."""
        return f"{self.pairing}/{self.base!r}/{self.share!r}/{self.sense!r}"

    @property
    def heads(self) -> int:
        """What the head size has to be a multiple of."""
        return 2 if self.share == 1.0 else WHOLE_PAIRS


def name_turns(bases: Sequence[float], shares: Sequence[float]) -> tuple[str, ...]:
    """The kinds that there may be, likeliest first."""
    every = itertools.product(shares, bases, PAIRINGS)
    return tuple(Turn(pairing, base, share).name for share, base, pairing in every)


def turn_back(names: Sequence[str]) -> tuple[str, ...]:
    """The same kinds with all angles negative, those of them that have angles."""
    turns = (find_turn(name) for name in names)
    return tuple(replace(turn, sense=-turn.sense).name for turn in turns if turn)


def find_turn(positions: str) -> Turn | None:
    """The kind that a contract names; None where its positions are of another sort."""
    pairing, *numbers = positions.split("/")
    return Turn(pairing, *map(float, numbers)) if pairing in PAIRINGS else None


def list_angles(length: int, pairs: int, base: float) -> Array:
    """The angle of each position and pair, [l, pairs]."""
    angles: Array = np.arange(length)[:, None] * base ** (-np.arange(pairs) / pairs)
    return angles


@functools.lru_cache(maxsize=256)
def _tables(turn: Turn, length: int, head_dim: int) -> tuple[Array, Array]:
    count = turn.count(head_dim)
    angles = np.zeros((length, head_dim))
    spread = PAIRINGS[turn.pairing].spread
    angles[:, :count] = turn.sense * spread(list_angles(length, count // 2, turn.base))
    return np.cos(angles), np.sin(angles)


def _twice_over(angles: Array) -> Array:
    return np.concatenate([angles, angles], axis=-1)


def _each_twice(angles: Array) -> Array:
    return np.repeat(angles, 2, axis=-1)


def _quarter_halves(x: Array) -> Array:
    one, two = np.split(x, 2, axis=-1)
    return np.concatenate([-two, one], axis=-1)


def _quarter_pairs(x: Array) -> Array:
    return np.stack([-x[..., 1::2], x[..., 0::2]], axis=-1).reshape(x.shape)


class Pairing(NamedTuple):
    """Where an angle [.., d / 2] stands among the numbers of a head, and what a right angle does.

    In "halves" number i is paired with number i + d / 2; in "pairs" number 2 i with number 2 i + 1.
    """

    spread: Callable[[Array], Array]
    quarter: Callable[[Array], Array]


PAIRINGS = {
    "halves": Pairing(_twice_over, _quarter_halves),
    "pairs": Pairing(_each_twice, _quarter_pairs),
}
