"""Draws the problems that cases pose: weights, inputs and masks, seeded by run and case.

Values: weights N(0, 1.5^2 / d_model), biases N(0, 0.4^2), tokens N(0, 1): with these the weakest of
the known mistakes still changes the output by 5 %, and float32 noise stays at 5e-7.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from grader.definition import CORRECT, Activations, Steps, Weights, attend
from grader.model import Array, Contract
from grader.precision import PRECISIONS, Allowance, allow

GAIN = 1.5
BIAS = 0.4


@dataclass(frozen=True)
class Sizes:
    """Sizes of one problem; by default all different, head_dim 6 and no square."""

    batch: int = 2
    q_len: int = 5
    kv_len: int = 7
    d_model: int = 18
    num_heads: int = 3

    def tell_apart(self) -> bool:
        """True where no two sizes coincide and none is 1, so that no two mistakes coincide."""
        sizes = (self.batch, self.q_len, self.num_heads, self.d_model // self.num_heads)
        return len(set(sizes)) == len(sizes) and 1 not in sizes


@dataclass(frozen=True)
class Problem:
    """What one case asks: values already rounded to `dtype`; `mask` as the candidate gets it."""

    sizes: Sizes
    dtype: str
    weights: Weights
    inputs: tuple[Array, ...]
    mask: Array | None
    visible: Array | None

    @property
    def attended(self) -> tuple[Array, Array, Array]:
        """query, key and value: for self-attention all the same."""
        query, key, value = self.inputs if len(self.inputs) == 3 else self.inputs * 3
        return query, key, value

    def expect(self, steps: Steps = CORRECT) -> Activations:
        """The definition's intermediates, with other steps if asked."""
        with np.errstate(all="ignore"):
            return attend(self.weights, *self.attended, self.sizes.num_heads, self.visible, steps)

    def allow(self, truth: Activations, steps: Steps = CORRECT) -> Allowance:
        """How far a right answer may be from `truth`, which is `expect(steps)`."""
        heads = self.sizes.num_heads
        with np.errstate(all="ignore"):
            return allow(self.dtype, self.weights, self.attended, heads, self.visible, steps, truth)


def generator(seed: int, case: str) -> np.random.Generator:
    """Random numbers of one case in one run; other cases do not shift them."""
    return np.random.default_rng([seed & 0xFFFFFFFF, seed >> 32, zlib.crc32(case.encode())])


def draw(
    rng: np.random.Generator,
    contract: Contract,
    sizes: Sizes,
    biases: frozenset[str],
    has_output: bool = True,
    *,
    mask: Mapping[str, str] | None = None,
    dtype: str = "float64",
    gain: float = GAIN,
    expanded: bool = False,
) -> Problem:
    """A problem for this contract; `expanded` makes every sample of the batch the same."""
    store = PRECISIONS[dtype].store
    batch = 1 if expanded else sizes.batch
    lengths = (sizes.q_len, sizes.kv_len, sizes.kv_len)[: len(contract.inputs)]
    drawn = [store(rng.normal(size=(batch, length, sizes.d_model))) for length in lengths]
    inputs = tuple(np.repeat(x, sizes.batch // batch, axis=0) for x in drawn)
    weights = draw_weights(rng, sizes.d_model, biases, has_output, gain, dtype)
    shown = None if mask is None else draw_mask(rng, sizes, mask["kind"], mask["form"])
    return Problem(sizes, dtype, weights, inputs, shown, visibility(contract, sizes, shown))


def draw_weights(
    rng: np.random.Generator,
    d_model: int,
    biases: frozenset[str],
    has_output: bool,
    gain: float,
    dtype: str,
) -> Weights:
    """Projections [d_model, d_model], and the biases that the candidate's module has."""
    store = PRECISIONS[dtype].store
    found: dict[str, Any] = {}
    for name in ("Wq", "Wk", "Wv", "Wo"):
        matrix = rng.normal(size=(d_model, d_model)) * gain / np.sqrt(d_model)
        found[name] = store(matrix)
        vector = store(rng.normal(size=d_model) * BIAS)
        found["b" + name[1]] = vector if "b" + name[1] in biases else None
    if not has_output:
        found["Wo"] = None
    return Weights(**found)


def visibility(contract: Contract, sizes: Sizes, mask: Array | None) -> Array | None:
    """Which key each query may see, [b, h, q, k], from the contract and the mask shown."""
    shape = (sizes.batch, sizes.num_heads, sizes.q_len, sizes.kv_len)
    visible = np.ones(shape, dtype=bool)
    if mask is None and not contract.causal:
        return None
    if mask is not None:
        visible &= mask[:, None, None, :] if contract.mask == "padding" else mask
    if contract.causal:
        visible &= causal(sizes)
    return visible


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
    """Each row sees some keys and misses some; one of them, at random, is sure to be seen."""
    if shape[-1] < 2:
        return np.ones(shape, dtype=bool)
    mask = rng.random(shape) < 0.55
    for row in np.ndindex(shape[:-1]):
        first, second = rng.permutation(shape[-1])[:2]
        mask[row][first], mask[row][second] = True, False
    return mask


def _causal(rng: np.random.Generator, sizes: Sizes, shape: tuple[int, ...]) -> Array:
    return causal(sizes)


def _padding(rng: np.random.Generator, sizes: Sizes, shape: tuple[int, ...]) -> Array:
    """Real tokens first; lengths differ between samples and none is full or empty."""
    length = shape[-1]
    ends = 1 + (rng.permutation(max(sizes.batch, length - 1)) % max(length - 1, 1))
    rows = np.arange(length) < ends[: sizes.batch, None]
    return rows.reshape(sizes.batch, *(1,) * (len(shape) - 2), length)


def _left_padding(rng: np.random.Generator, sizes: Sizes, shape: tuple[int, ...]) -> Array:
    """Padding in front: with a causal mask the first rows then see nothing at all."""
    return _padding(rng, sizes, shape)[..., ::-1]


def _single(rng: np.random.Generator, sizes: Sizes, shape: tuple[int, ...]) -> Array:
    """One visible key a row: its weight is exactly 1, whatever the scores and their rounding."""
    mask = np.zeros(shape, dtype=bool)
    for row in np.ndindex(shape[:-1]):
        mask[row][rng.integers(shape[-1])] = True
    return mask


def _first_only(rng: np.random.Generator, sizes: Sizes, shape: tuple[int, ...]) -> Array:
    """Everything but the first token is padding, so under a causal mask each row sees one key."""
    mask = np.zeros(shape, dtype=bool)
    mask[..., 0] = True
    return mask


def _holes(rng: np.random.Generator, sizes: Sizes, shape: tuple[int, ...]) -> Array:
    """Hidden tokens anywhere but in front, so that under a causal mask no row is dead."""
    mask = _random(rng, sizes, shape)
    mask[..., 0], mask[..., -2:] = True, [False, True]
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


def _open(rng: np.random.Generator, sizes: Sizes, shape: tuple[int, ...]) -> Array:
    return np.ones(shape, dtype=bool)


KINDS = {
    "random": _random,
    "causal": _causal,
    "padding": _padding,
    "left-padding": _left_padding,
    "holes": _holes,
    "single": _single,
    "first-only": _first_only,
    "combined": _combined,
    "dead": _dead,
    "open": _open,
}
