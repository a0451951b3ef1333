"""The catalogue: one entry per mistake, named after the fault and stable for ever.

`areas` are the areas of the bank in which the mistake is charged; everywhere else a file is
judged as if the mistake were meant, so that one fault is paid for once. Where two mistakes give
the same output and nothing tells them apart, the earlier entry is named first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from grader.definition import add_query, share_dead_rows
from grader.mistakes.mistake import Mistake
from grader.mistakes.variants import (
    fusing,
    masking,
    normalising,
    projections,
    regrouping,
    scales,
    streaming,
    windows,
)
from grader.model import Array

# Under a wrong mask it cannot be told what a row that sees nothing would do.
DEAD = "all-masked-rows"
MASKS = ("causal-mask", "padding-mask", "combined-masks", "cross-attention", DEAD)
CAUSAL = ("causal-mask", "combined-masks", DEAD)
PADDING = ("padding-mask", "combined-masks", DEAD)
JOINED = ("combined-masks", "padding-mask", DEAD)
SCALING = ("scaling",)
SHAPES = ("shapes", "scaling")
# Of the head size, by which scores are divided.
POWERS = (2.0, 1.5, 0.75, 1 / 3, -1.0)
# What is added to the sum of a softmax, after and before the largest score is taken away. Less than
# that is too little to be told from what is right as other mistakes are.
PADDED = (
    *map(normalising.padded_shifted, (1.0, 1e-2, 1e-1, 1e-4)),
    *map(normalising.padded_bare, (1.0, 1e-1, 1e-2, 1e-3)),
)
CROSS = ("cross-attention", "shapes")


def scaled(
    id_: str, *ways: Callable[[Array, int, int], Array], usual: int | None = None
) -> Mistake:
    """Another scale than the root of the head size."""
    first, *others = ({"scale": way} for way in ways)
    return Mistake(id_, SCALING, first, others=tuple(others), usual=usual)


def normalised(id_: str, *ways: Callable[[Array], Array]) -> Mistake:
    """Something else than a softmax over the keys; what is hidden may be zeroed afterwards."""
    plain = [{"softmax": way} for way in ways]
    zeroed = [{**steps, "after_softmax": masking.zero_hidden} for steps in plain]
    return Mistake(id_, SCALING, plain[0], others=(*plain[1:], *zeroed))


def projected(
    id_: str,
    *others: dict[str, Any],
    square: bool = False,
    usual: int | None = None,
    fused: bool = False,
    **steps: Any,
) -> Mistake:
    """Heads or projections that are not what they should be."""
    first, *rest = [steps, *others] if steps else others
    limits = {"square": square, "fused": fused}
    return Mistake(id_, SHAPES, first, others=tuple(rest), usual=usual, **limits)


def masked(
    id_: str, areas: tuple[str, ...], *ways: Callable[[Array], Array], **limits: bool
) -> Mistake:
    """A mask that is read wrongly; the rows it leaves empty may be zeros, equal, or NaN."""
    endings: tuple[dict[str, Any], ...] = (
        {},
        {"after_softmax": share_dead_rows},
        {"after_softmax": masking.nan_dead_rows},
    )
    first, *others = ({"visible": way} | ending for ending in endings for way in ways)
    return Mistake(id_, areas, first, others=tuple(others), **limits)


def filled(id_: str, fill: Callable[[Array, Array | None], Array]) -> Mistake:
    """Hidden scores that become something else than -inf; their weights may be zeroed later."""
    zeroed = {"hide": fill, "after_softmax": masking.zero_hidden}
    return Mistake(id_, MASKS, {"hide": fill}, others=(zeroed,))


ENTRIES = (
    scaled("missing-scale", scales.none),
    scaled("scale-by-head-dim", scales.by_head_dim),
    scaled("scale-by-sqrt-d-model", scales.by_sqrt_d_model),
    scaled("scale-by-d-model", scales.by_d_model),
    scaled("scale-by-sqrt-num-heads", scales.by_sqrt_num_heads),
    scaled("scale-by-sqrt-length", scales.by_sqrt_axis(-1), scales.by_sqrt_axis(-2)),
    scaled("scale-by-sqrt-batch", scales.by_sqrt_axis(0)),
    scaled("scale-by-fourth-root", scales.by_fourth_root),
    scaled("scale-by-another-power", *map(scales.by_power, POWERS), usual=2),
    scaled("scale-floored", scales.by_floored_root),
    scaled("scale-multiplied", scales.multiplied),
    scaled("scores-negated", scales.negated),
    Mistake("scale-after-softmax", SCALING, {"scale": scales.none, "mix": scales.mix_then_scale}),
    normalised("softmax-over-queries", normalising.over(-2)),
    normalised("softmax-over-heads", normalising.over(1)),
    normalised("softmax-over-batch", normalising.over(0)),
    normalised("softmax-over-all-pairs", normalising.over(-2, -1)),
    normalised("missing-softmax", normalising.nothing, normalising.nothing_where_visible),
    normalised("double-softmax", normalising.twice, normalising.twice_hidden),
    normalised("sigmoid-for-softmax", normalising.sigmoid),
    normalised("log-softmax", normalising.logarithm),
    normalised(
        "softmax-not-normalised", normalising.bare_exponentials, normalising.shifted_exponentials
    ),
    Mistake(
        "softmax-denominator-padded",
        SCALING,
        {"softmax": normalising.padded_shifted(1e-3)},
        others=tuple({"softmax": way} for way in PADDED),
        usual=2,
    ),
    Mistake(
        "running-softmax-not-rescaled",
        SCALING,
        {"softmax": streaming.WAYS[0]},
        others=tuple({"softmax": way} for way in streaming.WAYS[1:]),
        usual=2,
    ),
    normalised("argmax-for-softmax", normalising.largest_only),
    Mistake("weights-transposed", SCALING, {"mix": normalising.mix_transposed}),
    projected("split-without-transpose", split=regrouping.split_by_view),
    projected(
        "one-split-without-transpose",
        {"heads": regrouping.view_value},
        {"heads": regrouping.view_key},
        {"heads": regrouping.view_query},
    ),
    projected("key-reshaped-not-transposed", score=scales.of_reshaped_key),
    projected("merge-without-transpose", merge=regrouping.merge_by_view),
    projected(
        "merge-over-wrong-axes",
        {"merge": regrouping.merge_after(0, 1, 3, 2)},
        {"merge": regrouping.merge_after(0, 3, 1, 2)},
        {"merge": regrouping.merge_after(0, 3, 2, 1)},
    ),
    projected(
        "attention-over-heads",
        split=regrouping.keep_tokens,
        merge=regrouping.merge_tokens,
        hide=masking.leave_visible,
        square=True,
    ),
    projected(
        "sequence-first",
        split=regrouping.split_samples,
        merge=regrouping.merge_samples,
        square=True,
    ),
    projected(
        "samples-mixed",
        {"split": regrouping.fold_samples, "merge": regrouping.unfold_samples},
        {"merge": regrouping.merge_samples_last},
        {"merge": regrouping.unfold_samples},
    ),
    projected("one-head-for-all", heads=regrouping.first_for_all),
    projected(
        "first-head-shared",
        {"heads": regrouping.first_key},
        {"heads": regrouping.first_value},
        {"heads": regrouping.first_key_and_value},
        {"heads": regrouping.first_query},
        usual=3,
    ),
    projected(
        "output-slice-shared",
        {"merge": regrouping.merge_into(0)},
        {"merge": regrouping.merge_into(-1)},
    ),
    projected("fused-split-by-view", *({"heads": way} for way in fusing.WAYS), usual=2, fused=True),
    projected("activation-inside", heads=regrouping.rectified),
    projected("output-projection-unused", project=projections.skip),
    projected("output-projection-twice", project=projections.twice),
    projected("output-bias-dropped", project=projections.without_output_bias),
    projected(
        "input-bias-dropped",
        {"weights": projections.without_bias("q")},
        {"weights": projections.without_bias("v")},
        {"weights": projections.without_bias("q", "k", "v")},
    ),
    projected("key-used-as-value", weights=projections.instead(v="k")),
    projected("query-used-as-key", weights=projections.instead(k="q")),
    projected("query-used-as-value", weights=projections.instead(v="q")),
    projected("value-used-as-key", weights=projections.instead(k="v")),
    projected("key-used-as-query", weights=projections.instead(q="k")),
    projected("one-projection-for-all", weights=projections.instead(k="q", v="q")),
    projected(
        "projection-unused",
        {"weights": projections.unused("v")},
        {"weights": projections.unused("k")},
        {"weights": projections.unused("q")},
    ),
    projected("residual-inside", finish=add_query),
    Mistake("value-ignored", CROSS, {"inputs": projections.key_for_value}, inputs=3),
    Mistake("key-ignored", CROSS, {"inputs": projections.value_for_key}, inputs=3),
    Mistake("key-value-swapped", CROSS, {"inputs": projections.exchanged}, inputs=3),
    Mistake("context-ignored", CROSS, {"inputs": projections.query_for_all}, inputs=2),
    projected("window-imposed", *windows.ways(1, 2, 3, 4), square=True, usual=3),
    masked("mask-inverted", MASKS, masking.inverted),
    masked("causal-diagonal-hidden", CAUSAL, masking.without_diagonal, causal=True),
    masked("causal-one-ahead", CAUSAL, masking.one_ahead, causal=True),
    masked("causal-reversed", CAUSAL, masking.reversed_edge, causal=True),
    masked("causal-mask-missing", CAUSAL, masking.not_causal, causal=True),
    masked("padding-mask-ignored", PADDING, masking.only_causal, causal=True),
    masked("causal-overwritten", JOINED, masking.causal_unless_padded, causal=True),
    masked("masks-joined-by-or", JOINED, masking.either, causal=True),
    masked(
        "padding-on-query-axis",
        PADDING,
        masking.padding_of_queries,
        masking.causal_padding_of_queries,
        square=True,
    ),
    masked("mask-ignored", MASKS, masking.ignored),
    masked("mask-transposed", MASKS, masking.transposed),
    masked(
        "mask-shifted",
        MASKS,
        *masking.SHIFTS,
        *(masking.beside_causal(way) for way in masking.SHIFTS),
    ),
    masked("mask-of-first-sample", MASKS, masking.first_sample),
    masked("mask-of-first-head", MASKS, masking.first_head, per_head=True),
    masked("mask-in-order-of-heads", PADDING, masking.samples_in_turn),
    masked("mask-in-order-of-samples", PADDING, masking.heads_in_turn),
    Mistake(
        "mask-after-softmax",
        MASKS,
        {"hide": masking.leave_visible, "after_softmax": masking.zero_hidden},
    ),
    filled("mask-filled-with-zero", masking.fill_with(0.0)),
    filled("mask-multiplied", masking.multiply),
    filled("mask-filled-with-minus-one", masking.fill_with(-1.0)),
    filled("mask-filled-with-minus-ten", masking.fill_with(-10.0)),
    filled("mask-added-as-is", masking.add_as_it_is),
    filled("mask-filled-with-plus", masking.subtract_hidden),
)
# Those that are told by how far, and where, a file is off by little.
FAINT = tuple(
    replace(mistake, steps={"softmax": way(by)})
    for mistake in ENTRIES
    if mistake.id == "softmax-denominator-padded"
    for way in (normalising.padded_shifted, normalising.padded_bare)
    for by in (1e-4, 1e-5, 1e-6)
)
