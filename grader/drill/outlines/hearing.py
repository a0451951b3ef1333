"""What a transcript of the talk seems to say: points, and slips that interviewers listen for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from grader.drill.marking import find_claim, find_point, read_answer
from grader.drill.outlines.outline import Outline, load_rules


@dataclass(frozen=True)
class Heard:
    """The ids of points made and missed, and of slips; what was made or said with its words.

    `is_cut` says that the transcript was longer than what is read.
    """

    covered: Mapping[str, tuple[str, ...]]
    missed: tuple[str, ...]
    slips: Mapping[str, tuple[str, ...]]
    is_cut: bool = False


def hear(plan: Outline, transcript: str) -> Heard:
    """What was said, by the same kind of rules as a typed answer; a suggestion like that."""
    said, rules = read_answer(transcript), load_rules()
    found = {point: find_point(said, rules[point]) for point in plan.points}
    slips = {slip: find_claim(said, rules[slip]) for slip in plan.slips}
    return Heard(
        covered={point: quotes for point, quotes in found.items() if quotes},
        missed=tuple(point for point, quotes in found.items() if not quotes),
        slips={slip: quotes for slip, quotes in slips.items() if quotes},
        is_cut=said.is_cut,
    )
