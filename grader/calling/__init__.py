"""How to build a candidate's class and call it: what its signature says, and what is tried."""

from grader.calling.classes import choose_class, header_exercise
from grader.calling.forwards import propose_forwards, takes_tables, with_tables
from grader.calling.masks import MaskStyle
from grader.calling.plan import BATCH_FIRST, CallPlan, NotOfferedError, Slot
from grader.calling.proposals import plan_exercise, propose_builds

__all__ = [
    "BATCH_FIRST",
    "CallPlan",
    "MaskStyle",
    "NotOfferedError",
    "Slot",
    "choose_class",
    "header_exercise",
    "plan_exercise",
    "propose_builds",
    "propose_forwards",
    "takes_tables",
    "with_tables",
]
