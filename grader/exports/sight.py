"""How much of which case students are to see, and until when."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum

from grader.model import Verdict

DEFAULT = "default"


class Sight(str, Enum):
    """How much of a case a student sees; before the deadline AFTER_DEADLINE is HIDDEN."""

    VISIBLE = "visible"
    HIDDEN = "hidden"
    NAME_ONLY = "name-only"
    AFTER_DEADLINE = "after-deadline"


@dataclass(frozen=True)
class Visibility:
    """Sights by case id, area id or "default"; the narrower wins, and what has none is visible.

    A sight may be given as its word. Without a deadline, what is shown after it is never shown.
    `deadline` and the `now` of `for_students` both have a time zone, or neither has.
    """

    sights: Mapping[str, str] = field(default_factory=dict)
    deadline: datetime | None = None

    def of(self, verdict: Verdict, now: datetime) -> Sight:
        """VISIBLE, NAME_ONLY or HIDDEN; raises ValueError for a word that is no sight."""
        named = (self.sights.get(key) for key in (verdict.case, verdict.area, DEFAULT))
        sight = Sight(next((word for word in named if word is not None), Sight.VISIBLE))
        if sight is not Sight.AFTER_DEADLINE:
            return sight
        is_over = self.deadline is not None and now >= self.deadline
        return Sight.VISIBLE if is_over else Sight.HIDDEN
