"""How a mistake shows besides by its own name: in which areas, and under which other names."""

from __future__ import annotations

from grader.mistakes import CATALOGUE
from grader.model import Verdict

DEAD = "all-masked-rows"
# What is wrong without any mask may show in every call; the constructor is another matter.
NOT_CALLED = ("divisibility",)
# Of mistakes that no step of the definition stands for. `scaling` is charged with what raises.
AREAS = {
    "divisibility-asserted": ("divisibility",),
    "divisibility-checked-late": ("divisibility",),
    "nan-dead-rows": (DEAD,),
    "nan-dead-gradients": (DEAD,),
    "uniform-dead-rows": (DEAD,),
    "dead-rows-not-zero": (DEAD,),
    "fill-overflows-float16": (DEAD, "mixed-precision", "padding-mask"),
    "exp-overflow": ("mixed-precision", "padding-mask"),
    "output-dtype-changed": ("mixed-precision",),
    "dropout-always-on": ("dropout",),
    "dropout-misplaced": ("dropout",),
    "dropout-never-applied": ("dropout",),
    "dropout-not-inverted": ("dropout",),
    "dropout-rate-wrong": ("dropout", "gradients"),
    "dropout-shared": ("dropout",),
    "gradient-cut": (DEAD, "dropout", "gradients", "state"),
}
# Where weights depend on what they should not, much looks like a leak.
MIXED = ("nan-dead-rows", "nan-dead-gradients", "future-leaks", "padding-leaks")
# Measured: what else the grader says of a file that has this one mistake.
NAMES = {
    "nan-dead-rows": ("nan-dead-gradients",),
    "uniform-dead-rows": ("dead-rows-not-zero",),
    "dead-rows-not-zero": ("uniform-dead-rows",),
    "dropout-rate-wrong": ("gradient-cut", "training-mode-differs"),
    "softmax-not-normalised": ("exp-overflow",),
    **dict.fromkeys(("softmax-over-queries", "softmax-over-heads", "softmax-over-batch"), MIXED),
    "weights-transposed": (
        *MIXED,
        "softmax-over-queries",
        "input-bias-dropped",
        "dropout-rate-wrong",
    ),
}


def charged_areas(mistake: str) -> tuple[str, ...]:
    """The areas that pay for it."""
    known = CATALOGUE.get(mistake)
    return known.areas if known else AREAS[mistake]


def can_show(mistake: str, area: str) -> bool:
    """True where a case of this area may fail for this mistake."""
    known = CATALOGUE.get(mistake)
    if known and known.is_structural:
        return area not in NOT_CALLED
    return area in charged_areas(mistake)


def explains(mistake: str, verdict: Verdict) -> bool:
    """True where a case that failed may be a sign of this mistake, by its area and its name."""
    other = verdict.mistake
    if not can_show(mistake, verdict.area):
        return False
    return other in (None, mistake, *NAMES.get(mistake, ())) or are_kin(mistake, str(other))


def are_kin(one: str, other: str) -> bool:
    """True for two that replace the same step: where one is made, the other may be seen in it."""
    if one not in CATALOGUE or other not in CATALOGUE:
        return False
    return bool(set(CATALOGUE[one].steps) & set(CATALOGUE[other].steps))
