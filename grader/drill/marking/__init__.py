"""Reads answers by rules that anybody can read: which points they make, which traps they state."""

from grader.drill.marking.answer import LONGEST, Answer, read_answer
from grader.drill.marking.finding import find_claim, find_point
from grader.drill.marking.rules import Rule, parse_rule

__all__ = [
    "LONGEST",
    "Answer",
    "Rule",
    "find_claim",
    "find_point",
    "parse_rule",
    "read_answer",
]
