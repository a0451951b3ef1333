"""Draws the problems that cases pose: weights, inputs and masks, seeded by run and case.

Values: weights N(0, 1.5^2 / d_model), biases N(0, 0.4^2), tokens N(0, 1): with these the weakest of
the known mistakes still changes the output by 5 %, and float32 noise stays at 5e-7.
"""

from __future__ import annotations

import functools
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from grader.bank.masks import Sizes, causal, draw_mask
from grader.bank.problem import Problem
from grader.definition import CORRECT, Steps, Weights, add_query, share_dead_rows
from grader.model import Array, Contract
from grader.precision import PRECISIONS
from grader.rotary import find_turn
from grader.variations import (
    LEANS,
    blank_padded_queries,
    hide_padded_queries,
    share_heads,
    tie,
)

GAIN = 1.5
BIAS = 0.4


def generator(seed: int, case: str) -> np.random.Generator:
    """Random numbers of one case in one run; other cases do not shift them."""
    return np.random.Generator(np.random.Philox(key=[seed, zlib.crc32(case.encode())]))


@functools.lru_cache(maxsize=512)
def pose(
    seed: int,
    name: str,
    contract: Contract,
    sizes: Sizes,
    biases: frozenset[str],
    has_output: bool,
    options: tuple[tuple[str, Any], ...],
) -> Problem:
    """The problem of this name in this run; files graded with one seed share it, and its truth."""
    chosen = dict(options)
    if "mask" in chosen:
        chosen["mask"] = dict(chosen["mask"])
    return draw(generator(seed, name), contract, sizes, biases, has_output, seed=seed, **chosen)


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
    seed: int | None = None,
) -> Problem:
    """A problem for this contract; `expanded` makes every sample of the batch the same.

    With a seed its weights are those that all problems of one kind share in a run.
    """
    store = PRECISIONS[dtype].store
    batch = 1 if expanded else sizes.batch
    lengths = (sizes.q_len, sizes.kv_len, sizes.kv_len)[: len(contract.inputs)]
    drawn = [store(rng.normal(size=(batch, length, sizes.d_model))) for length in lengths]
    inputs = tuple(np.repeat(x, sizes.batch if expanded else 1, axis=0) for x in drawn)
    shared = (sizes.num_heads, sizes.kv_heads) if sizes.kv_heads else None
    wanted = _shapes(sizes, contract.wide), shared, biases, has_output, gain, dtype, contract.tied
    weights = draw_weights(rng, *wanted) if seed is None else shared_weights(seed, *wanted)
    shown = None if mask is None else draw_mask(rng, sizes, mask["kind"], mask["form"])
    if shown is not None and contract.causal and mask and mask["kind"] == "random":
        # Under a causal edge the first query sees the first key or nothing.
        shown[..., 0] = True
    seen = visibility(contract, sizes, shown)
    return Problem(sizes, dtype, weights, inputs, shown, seen, right_steps(contract))


@functools.lru_cache(maxsize=128)
def shared_weights(seed: int, *wanted: Any) -> Weights:
    """Weights as `draw_weights` makes them, once a run: loaded once, they serve many probes."""
    return draw_weights(generator(seed, "weights"), *wanted)


@functools.lru_cache(maxsize=256)
def right_steps(contract: Contract) -> Steps:
    """The definition with what the contract's own convention adds to it."""
    steps = CORRECT
    if contract.residual:
        steps = replace(steps, finish=add_query)
    turn = find_turn(contract.positions)
    if turn is not None:
        steps = replace(steps, turn=turn)
    if contract.positions in LEANS:
        steps = replace(steps, lean=LEANS[contract.positions])
    if contract.padded == "hidden":
        steps = replace(steps, visible=hide_padded_queries)
    if contract.padded == "blank":
        steps = replace(steps, blank=blank_padded_queries)
    if contract.uniform_dead_rows:
        steps = replace(steps, after_softmax=share_dead_rows)
    return steps


def _shapes(sizes: Sizes, wide: bool) -> tuple[tuple[str, int, int], ...]:
    """(name, rows, columns) of each projection."""
    d_model, heads = sizes.d_model, sizes.num_heads
    inner = d_model * heads if wide else sizes.head_width * heads
    values = sizes.value_dim * heads or inner
    into = (("Wq", inner, d_model), ("Wk", inner, d_model), ("Wv", values, d_model))
    return (*into, ("Wo", d_model, values))


def draw_weights(
    rng: np.random.Generator,
    shapes: Sequence[tuple[str, int, int]],
    shared: tuple[int, int] | None,
    biases: frozenset[str],
    has_output: bool,
    gain: float,
    dtype: str,
    tied: str = "",
) -> Weights:
    """Projections of these (name, rows, columns), and the biases that the candidate's module has.

    `shared` is (num_heads, kv_heads) where several query heads have one of keys and values, `tied`
    the two of "qkv" that have one projection.
    """
    store = PRECISIONS[dtype].store
    found: dict[str, Any] = {}
    for name, out, into in shapes:
        matrix = rng.normal(size=(out, into)) * gain / np.sqrt(into)
        found[name] = store(matrix)
        vector = store(rng.normal(size=out) * BIAS)
        found["b" + name[1]] = vector if "b" + name[1] in biases else None
    if not has_output:
        found["Wo"] = None
    weights = tie(Weights(**found), tied)
    return share_heads(weights, *shared) if shared else weights


def visibility(contract: Contract, sizes: Sizes, mask: Array | None) -> Array | None:
    """Which key each query may see, [b, h, q, k], from the contract and the mask shown."""
    visible = np.ones(sizes.scores, dtype=bool)
    if mask is None and not contract.causal:
        return None
    if mask is not None:
        visible &= mask[:, None, None, :] if contract.mask == "padding" else mask
    if contract.causal:
        visible &= causal(sizes)
    return visible
