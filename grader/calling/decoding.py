"""One more token after others, whose keys and values a file has kept in a cache."""

from __future__ import annotations

from dataclasses import replace

from grader.calling.masks import MASKS
from grader.calling.plan import CallPlan, Slot
from grader.model import Array, Call, Earlier


def cache_of(plan: CallPlan) -> Slot | None:
    """The argument that takes a cache, where the last token can be given alone beside it."""
    alone = len(plan.sequences) == 1 and not plan.has_tables
    needed = any(slot.required for slot in plan.forward if slot.role in MASKS)
    found = (slot for slot in plan.forward if slot.role == "cache" and slot.name)
    return next(found, None) if alone and not needed else None


def decode(
    plan: CallPlan, item: int, x: Array, scores: tuple[int, int, int, int], dtype: str
) -> tuple[Call, Call]:
    """The calls for all tokens of x [b, l, m] but the last, and for the last.

    That one is given item `item` of what came back as the cache.
    """
    slot = cache_of(plan)
    assert slot is not None
    on = tuple(replace(s, role="option") if s.role == "caching" else s for s in plan.forward)
    plan = replace(plan, forward=on)
    first, last = (plan.call((part,), None, scores, dtype) for part in (x[:, :-1], x[:, -1:]))
    return first, (*last, Earlier(item, slot.name))
