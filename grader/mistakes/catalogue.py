"""The catalogue: one entry per mistake, named after the fault and stable for ever.

`areas` are the areas of the bank in which the mistake is charged; everywhere else a file is
judged as if the mistake were meant, so that one fault is paid for once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from grader.definition import CORRECT, Steps
from grader.mistakes import variants
from grader.model import Contract


@dataclass(frozen=True)
class Mistake:
    """A known fault: the steps of the definition that it replaces, by name.

    `causal` mistakes make sense only where the module builds the causal mask itself.
    """

    id: str
    areas: tuple[str, ...]
    steps: dict[str, Any]
    causal: bool = False

    @property
    def is_structural(self) -> bool:
        """True when it shows without any mask."""
        return not set(self.steps) <= {"hide", "after_softmax", "visible"}


# Under a wrong mask it cannot be told what a row that sees nothing would do.
DEAD = "all-masked-rows"
MASKS = ("causal-mask", "padding-mask", "combined-masks", "cross-attention", DEAD)
CAUSAL = ("causal-mask", "combined-masks", DEAD)
PADDING = ("padding-mask", "combined-masks", DEAD)
SCALING = ("scaling",)
SHAPES = ("shapes", "scaling")

CATALOGUE: dict[str, Mistake] = {
    mistake.id: mistake
    for mistake in (
        Mistake("missing-scale", SCALING, {"scale": variants.no_scale}),
        Mistake("scale-by-head-dim", SCALING, {"scale": variants.by_head_dim}),
        Mistake("scale-by-sqrt-d-model", SCALING, {"scale": variants.by_sqrt_d_model}),
        Mistake("scale-by-d-model", SCALING, {"scale": variants.by_d_model}),
        Mistake("scale-by-sqrt-num-heads", SCALING, {"scale": variants.by_sqrt_num_heads}),
        Mistake("scale-floored", SCALING, {"scale": variants.by_floored_root}),
        Mistake("scale-multiplied", SCALING, {"scale": variants.multiplied}),
        Mistake(
            "scale-after-softmax",
            SCALING,
            {"scale": variants.no_scale, "mix": variants.mix_then_scale},
        ),
        Mistake("softmax-over-queries", SCALING, {"softmax": variants.softmax_over(-2)}),
        Mistake("softmax-over-heads", SCALING, {"softmax": variants.softmax_over(1)}),
        Mistake("softmax-over-batch", SCALING, {"softmax": variants.softmax_over(0)}),
        Mistake("missing-softmax", SCALING, {"softmax": variants.no_softmax}),
        Mistake("double-softmax", SCALING, {"softmax": variants.softmax_twice}),
        Mistake("sigmoid-for-softmax", SCALING, {"softmax": variants.sigmoid}),
        Mistake("split-without-transpose", SHAPES, {"split": variants.split_by_view}),
        Mistake("merge-without-transpose", SHAPES, {"merge": variants.merge_by_view}),
        Mistake("output-projection-unused", SHAPES, {"project": variants.skip_projection}),
        Mistake("key-used-as-value", SHAPES, {"weights": variants.value_weights_from_key}),
        Mistake("query-used-as-key", SHAPES, {"weights": variants.key_weights_from_query}),
        Mistake("mask-inverted", MASKS, {"visible": variants.inverted}),
        Mistake("causal-diagonal-hidden", CAUSAL, {"visible": variants.without_diagonal}, True),
        Mistake("causal-one-ahead", CAUSAL, {"visible": variants.one_ahead}, True),
        Mistake("causal-mask-missing", CAUSAL, {"visible": variants.not_causal}, True),
        Mistake("padding-mask-ignored", PADDING, {"visible": variants.only_causal}, True),
        Mistake(
            "masks-joined-by-or",
            ("combined-masks", "padding-mask", DEAD),
            {"visible": variants.either},
            True,
        ),
        Mistake("mask-ignored", MASKS, {"visible": variants.ignored}),
        Mistake("mask-transposed", MASKS, {"visible": variants.transposed}),
        Mistake("mask-of-first-sample", MASKS, {"visible": variants.first_sample}),
        Mistake("mask-in-order-of-heads", PADDING, {"visible": variants.samples_in_turn}),
        Mistake(
            "mask-after-softmax",
            MASKS,
            {"hide": variants.leave_visible, "after_softmax": variants.zero_hidden},
        ),
        Mistake("mask-filled-with-zero", MASKS, {"hide": variants.fill_with(0.0)}),
        Mistake("mask-filled-with-minus-one", MASKS, {"hide": variants.fill_with(-1.0)}),
        Mistake("mask-filled-with-minus-ten", MASKS, {"hide": variants.fill_with(-10.0)}),
    )
}


def known_for(contract: Contract) -> list[Mistake]:
    """The mistakes that can be made under this contract."""
    return [m for m in CATALOGUE.values() if contract.causal or not m.causal]


def combine(mistakes: Sequence[Mistake], right: Steps = CORRECT) -> Steps:
    """The right steps with every one of these mistakes made; they replace different ones."""
    steps = right
    for mistake in mistakes:
        steps = replace(steps, **mistake.steps)
    return steps


def are_compatible(mistakes: Sequence[Mistake], further: Mistake) -> bool:
    """True when `further` replaces no step that one of `mistakes` has replaced.

    What a wrong softmax makes of a mask looks like many things, so no mask mistake is added to it.
    """
    taken = {name for mistake in mistakes for name in mistake.steps}
    if "softmax" in taken and not further.is_structural:
        return False
    return not taken & set(further.steps)
