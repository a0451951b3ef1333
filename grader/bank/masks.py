"""Sizes of a problem, and the kinds of masks that cases ask for."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from grader.model import Array


@dataclass(frozen=True)
class Sizes:
    """Sizes of one problem; by default all different, head_dim 6 and no square.

    Of the last three 0 stands for what is usual: heads that share the model between them, values as
    wide as keys, and a key head to each query head.
    """

    batch: int = 2
    q_len: int = 5
    kv_len: int = 7
    d_model: int = 18
    num_heads: int = 3
    head_dim: int = 0
    value_dim: int = 0
    kv_heads: int = 0

    @property
    def head_width(self) -> int:
        """The size of one head of queries and keys."""
        return self.head_dim or self.d_model // self.num_heads

    @property
    def scores(self) -> tuple[int, int, int, int]:
        """The shape of the attention scores, [b, h, q, k]."""
        return self.batch, self.num_heads, self.q_len, self.kv_len

    def with_one_length(self) -> Sizes:
        """The same with as many keys as queries."""
        return self if self.kv_len == self.q_len else replace(self, kv_len=self.q_len)

    def with_heads_of(self, multiple: int) -> Sizes:
        """The same with the next head size that is a multiple of this."""
        width = -(-self.head_width // multiple) * multiple
        if width == self.head_width:
            return self
        if self.head_dim:
            return replace(self, head_dim=width)
        return replace(self, d_model=width * self.num_heads)

    def by_name(self) -> dict[str, int]:
        """Each size under its name."""
        return dict(vars(self))

    def all_differ(self) -> bool:
        """True where no two sizes coincide and none is 1."""
        sizes = (self.batch, self.q_len, self.num_heads, self.head_width)
        return len(set(sizes)) == len(sizes) and 1 not in sizes


def causal(sizes: Sizes) -> Array:
    """[q, k]: a query sees itself and what came before, both sequences ending together."""
    return np.tri(sizes.q_len, sizes.kv_len, sizes.kv_len - sizes.q_len, dtype=bool)


def draw_mask(rng: np.random.Generator, sizes: Sizes, kind: str, form: str) -> Array:
    """A bool mask, True = visible, with the axes that `form` names ("b 1 q k"; 1 broadcasts)."""
    lengths = {"b": sizes.batch, "h": sizes.num_heads, "q": sizes.q_len, "k": sizes.kv_len}
    shape = tuple(1 if axis == "1" else lengths[axis] for axis in form.split())
    full = KINDS[kind](rng, sizes, shape)
    return np.array(np.broadcast_to(full, shape))


def _random(rng: np.random.Generator, sizes: Sizes, shape: tuple[int, ...]) -> Array:
    """Each row sees some keys and misses some; with one key, some rows see it and some do not."""
    mask = rng.random(shape) < 0.55
    if shape[-1] < 2:
        mask.flat[0], mask.flat[-1] = False, True
        return mask
    seen = rng.integers(shape[-1], size=(*shape[:-1], 1))
    missed = (seen + rng.integers(1, shape[-1], size=seen.shape)) % shape[-1]
    np.put_along_axis(mask, seen, True, axis=-1)
    np.put_along_axis(mask, missed, False, axis=-1)
    return mask


def _causal(rng: np.random.Generator, sizes: Sizes, shape: tuple[int, ...]) -> Array:
    return causal(sizes)


def _padding(rng: np.random.Generator, sizes: Sizes, shape: tuple[int, ...]) -> Array:
    """Real tokens first; none is full or empty, and lengths differ while there are enough.

    One has a single token of padding: in shorter ones there may be no future to look into.
    """
    length = shape[-1]
    longest = max(length - 1, 1)
    lengths = np.resize([longest, *rng.permutation(np.arange(1, longest))], sizes.batch)
    rows = np.arange(length) < rng.permutation(lengths)[:, None]
    return rows.reshape(sizes.batch, *(1,) * (len(shape) - 2), length)


def _left_padding(rng: np.random.Generator, sizes: Sizes, shape: tuple[int, ...]) -> Array:
    """Padding in front: with a causal mask the first rows then see nothing at all."""
    return _padding(rng, sizes, shape)[..., ::-1]


def _single(rng: np.random.Generator, sizes: Sizes, shape: tuple[int, ...]) -> Array:
    """One visible key a row: its weight is exactly 1, whatever the scores and their rounding."""
    mask = np.zeros(shape, dtype=bool)
    np.put_along_axis(mask, rng.integers(shape[-1], size=(*shape[:-1], 1)), True, axis=-1)
    return mask


def _first_only(rng: np.random.Generator, sizes: Sizes, shape: tuple[int, ...]) -> Array:
    """Everything but the first token is padding, so under a causal mask each row sees one key."""
    mask = np.zeros(shape, dtype=bool)
    mask[..., 0] = True
    return mask


def _holes(rng: np.random.Generator, sizes: Sizes, shape: tuple[int, ...]) -> Array:
    """Hidden tokens anywhere but in front, so that under a causal mask no row is dead.

    Neighbours differ where there is room: one sample's mask in another's place has to show.
    """
    mask = _random(rng, sizes, shape)
    mask[..., 0], mask[..., -2:] = True, [False, True]
    if shape[-1] > 3:
        for before, after in itertools.pairwise(mask):
            after[..., 1] ^= (before == after).all()
    return mask


def _combined(rng: np.random.Generator, sizes: Sizes, shape: tuple[int, ...]) -> Array:
    return _padding(rng, sizes, shape) & causal(sizes)


def _dead(rng: np.random.Generator, sizes: Sizes, shape: tuple[int, ...]) -> Array:
    """A random mask in which every second row, and all rows of the last sample, see nothing."""
    mask = _random(rng, sizes, shape)
    mask[..., 1::2, :] = False
    if shape[0] == sizes.batch:
        mask[-1] = False
    return mask


def _dead_padding(rng: np.random.Generator, sizes: Sizes, shape: tuple[int, ...]) -> Array:
    """Real tokens first, and none at all in the last sample.

    Another sample is the longest: with one token alone there is no future to hide.
    """
    mask = np.array(_padding(rng, sizes, shape))
    longest = mask.reshape(len(mask), -1).sum(axis=1).argmax()
    mask[[0, longest]] = mask[[longest, 0]]
    mask[-1] = False
    return mask


def _dead_heads(rng: np.random.Generator, sizes: Sizes, shape: tuple[int, ...]) -> Array:
    """A random mask in which each head has other rows that see nothing."""
    mask = _random(rng, sizes, shape)
    for head in range(sizes.num_heads):
        mask[:, head, head :: sizes.num_heads] = False
    return mask


def _open(rng: np.random.Generator, sizes: Sizes, shape: tuple[int, ...]) -> Array:
    return np.ones(shape, dtype=bool)


KINDS: dict[str, Callable[[np.random.Generator, Sizes, tuple[int, ...]], Array]] = {
    "random": _random,
    "causal": _causal,
    "padding": _padding,
    "left-padding": _left_padding,
    "holes": _holes,
    "single": _single,
    "first-only": _first_only,
    "combined": _combined,
    "dead": _dead,
    "dead-padding": _dead_padding,
    "dead-heads": _dead_heads,
    "open": _open,
}
