"""Rotary positions: numbers of a head turned in pairs, by an angle that grows with the position."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass

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
    """One kind of rotary positions, as a step of the definition: on q and k [b, h, l, d]."""

    pairing: str
    base: float = BASE
    share: float = 1.0

    def __call__(self, x: Array, direction: int = 1) -> Array:
        """Turn the first `share` of each head; `direction` -1 turns back."""
        count = round(self.share * x.shape[-1])
        turned = PAIRINGS[self.pairing](x[..., :count], self.base, direction)
        return np.concatenate([turned, x[..., count:]], axis=-1)

    @property
    def name(self) -> str:
        """What a contract says of its positions."""
        return f"{self.pairing}/{self.base!r}/{self.share!r}"

    @property
    def heads(self) -> int:
        """What the head size has to be a multiple of."""
        return 2 if self.share == 1.0 else WHOLE_PAIRS


def name_turns(bases: Sequence[float], shares: Sequence[float]) -> tuple[str, ...]:
    """The kinds that there may be, likeliest first."""
    every = itertools.product(shares, bases, PAIRINGS)
    return tuple(Turn(pairing, base, share).name for share, base, pairing in every)


def find_turn(positions: str) -> Turn | None:
    """The kind that a contract names; None where its positions are of another sort."""
    pairing, *numbers = positions.split("/")
    return Turn(pairing, *map(float, numbers)) if pairing in PAIRINGS else None


def turn_halves(x: Array, base: float, direction: int) -> Array:
    """All of x [b, h, l, d] turned: number i of a head is paired with number i + d / 2.

    Source: Su et al., "RoFormer" (2021), in the pairing of GPT-NeoX.
    """
    one, two = np.split(x, 2, axis=-1)
    return np.concatenate(_turn(one, two, base, direction), axis=-1)


def turn_pairs(x: Array, base: float, direction: int) -> Array:
    """The same with number 2 i paired with number 2 i + 1, as in the paper."""
    turned = _turn(x[..., 0::2], x[..., 1::2], base, direction)
    return np.stack(turned, axis=-1).reshape(x.shape)


def list_angles(length: int, pairs: int, base: float) -> Array:
    """The angle of each position and pair, [l, pairs]."""
    angles: Array = np.arange(length)[:, None] * base ** (-np.arange(pairs) / pairs)
    return angles


def _turn(one: Array, two: Array, base: float, direction: int) -> tuple[Array, Array]:
    angles = direction * list_angles(one.shape[-2], one.shape[-1], base)
    cos, sin = np.cos(angles), np.sin(angles)
    return one * cos - two * sin, one * sin + two * cos


PAIRINGS = {"halves": turn_halves, "pairs": turn_pairs}
