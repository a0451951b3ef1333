"""Mistakes named by the sizes at which a file fails, where it is right at all others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from grader.mistakes.seen import is_alike
from grader.model import Case, Exercise, Outcome, Verdict

# Checks that judge the values of one call at the sizes of their case.
AT_SIZES = (
    "matches_reference",
    "matches_in_some_rows",
    "has_output_shape",
    "ignores_future",
    "ignores_hidden",
    "takes_mask_forms",
)
DEFAULT = {"batch": 2, "q_len": 5, "kv_len": 7, "num_heads": 3}
NARROW = ("float16", "bfloat16")


class Extent(NamedTuple):
    """The sizes of a case, whether it shows a mask, and whether each sample has its own."""

    batch: int
    shortest: int
    longest: int
    heads: int
    masked: bool
    apart: bool


def name_by_sizes(exercise: Exercise, verdicts: Sequence[Verdict]) -> str | None:
    """The mistake that failures of values have in common, if their sizes tell."""
    cases = {case.id: case for case in exercise.cases}
    alike = [v for v in verdicts if is_alike(v)]
    failed = [v for v in alike if cases[v.case].check in AT_SIZES]
    others = [v for v in alike if v not in failed and "float16" not in v.case]
    wide = [v for v in failed if cases[v.case].args.get("dtype") not in NARROW]
    if not wide or any(v.mistake for v in alike):
        return None
    two = len(exercise.contract.inputs) > 1
    bad = [_measure(cases[v.case], two) for v in failed]
    good = [
        _measure(cases[v.case], two)
        for v in verdicts
        if v.outcome is Outcome.PASSED and cases[v.case].check in AT_SIZES
    ]
    if all(e.masked for e in bad):
        good = [e for e in good if e.masked]
    if all(e.apart for e in bad):
        good = [e for e in good if e.apart]
    if not good:
        return None
    found = None if others else _single(bad, good)
    bounds = max(e.longest for e in good)
    if found is None and all(e.longest > bounds for e in bad):
        return "length-limited"
    return found


def _single(bad: Iterable[Extent], good: Iterable[Extent]) -> str | None:
    """An axis that has one element wherever the file fails, and more wherever it is right."""
    axes: dict[str, Callable[[Extent], int]] = {
        "batch-squeezed": lambda extent: extent.batch,
        "length-squeezed": lambda extent: extent.shortest,
        "single-head-mishandled": lambda extent: extent.heads,
    }
    for name, size in axes.items():
        if all(size(e) == 1 for e in bad) and all(size(e) > 1 for e in good):
            return name
    return None


def _measure(case: Case, two: bool) -> Extent:
    sizes = {**DEFAULT, **dict(case.args.get("sizes") or {})}
    lengths = (sizes["q_len"], sizes["kv_len"]) if two else (sizes["q_len"],)
    masked = bool({"mask", "masks", "forms"} & set(case.args))
    apart = "b" in str(dict(case.args.get("mask") or {}).get("form", "")).split()
    return Extent(sizes["batch"], min(lengths), max(lengths), sizes["num_heads"], masked, apart)
