"""The follow-up round after a drill, in the three forms of an interview; and typed answers read."""

from grader.drill.rounds.plan import (
    ASK,
    CHALLENGE,
    DIRECT,
    FORMS,
    LAYERED,
    SCENARIO,
    Chain,
    Link,
    Round,
    Step,
    load_chains,
    load_scenarios,
    plan_round,
)
from grader.drill.rounds.suggestion import Mark, Suggestion, choose_mark, load_markings, suggest
from grader.drill.rounds.turns import Outcome, judge, judge_mark, next_step, place
from grader.drill.rounds.words import describe, say

__all__ = [
    "ASK",
    "CHALLENGE",
    "DIRECT",
    "FORMS",
    "LAYERED",
    "SCENARIO",
    "Chain",
    "Link",
    "Mark",
    "Outcome",
    "Round",
    "Step",
    "Suggestion",
    "choose_mark",
    "describe",
    "judge",
    "judge_mark",
    "load_chains",
    "load_markings",
    "load_scenarios",
    "next_step",
    "place",
    "plan_round",
    "say",
    "suggest",
]
