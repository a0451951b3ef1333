"""Sequences that forward can do without."""

from __future__ import annotations

from dataclasses import replace

from grader.calling.plan import CallPlan, Slot

ATTENDED = ("key", "value", "context")


def may_be_left_out(plan: CallPlan) -> list[Slot]:
    """The sequences besides the queries that have a default."""
    return [s for s in plan.forward if s.role in ATTENDED and s.name and not s.required]


def leave_out(plan: CallPlan) -> CallPlan:
    """The plan without them; keys that are left without values are the context."""
    gone = may_be_left_out(plan)
    kept = [slot for slot in plan.forward if slot not in gone]
    if sum(slot.role in ATTENDED for slot in kept) == 1:
        kept = [replace(s, role="context") if s.role in ATTENDED else s for s in kept]
    return replace(plan, forward=tuple(kept))
