"""The spoken version of an answer: four minutes in parts, and the points to mark oneself by."""

from grader.drill.outlines.hearing import Heard, hear
from grader.drill.outlines.outline import SECONDS, Outline, Part, load_base, load_rules, outline
from grader.drill.outlines.words import (
    describe_heard,
    headline,
    point_text,
    slip_text,
    what_to_say,
)

__all__ = [
    "SECONDS",
    "Heard",
    "Outline",
    "Part",
    "describe_heard",
    "headline",
    "hear",
    "load_base",
    "load_rules",
    "outline",
    "point_text",
    "slip_text",
    "what_to_say",
]
