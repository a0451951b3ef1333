"""What an interviewer may ask about: mistakes, areas that lost points, right choices."""

from __future__ import annotations

from collections.abc import Iterator

from grader.bank.bench import Bench
from grader.layout.places import EACH_HEAD
from grader.model import Outcome, Report

# A word of the source, and the choice that it shows.
WORDS = {
    "finfo": "finfo-min",
    "einsum": "einsum",
    "register_buffer": "buffer",
    "scaled_dot_product_attention": "sdpa",
    "dtype=torch.float32": "float32-softmax",
}
FUSED = 3


def see(report: Report, bench: Bench) -> Iterator[str]:
    """<kind>:<id> of everything in a graded file that a question can be about."""
    yield from see_report(report)
    yield from (f"seen:{choice}" for choice in _layout_choices(bench))


def see_report(report: Report) -> Iterator[str]:
    """The same of what the report alone tells: all but how the parameters are laid out."""
    yield from (f"mistake:{mistake.mistake}" for mistake in report.diagnosis.mistakes)
    lost = (v.area for v in report.verdicts if v.outcome is Outcome.FAILED)
    yield from (f"area:{area}" for area in dict.fromkeys(lost))
    words = (choice for word, choice in WORDS.items() if word in report.submission.source)
    yield from (f"seen:{choice}" for choice in words)
    if report.all_passed:
        yield "seen:all-passed"


def _layout_choices(bench: Bench) -> Iterator[str]:
    if bench.layout is not None:
        places = bench.layout.places.values()
        fused = any(place.fused == FUSED for place in places)
        yield "fused-projection" if fused else "separate-projections"
        if not bench.layout.biases():
            yield "no-bias"
        if any(EACH_HEAD in place.weight for place in places):
            yield "per-head-lists"
