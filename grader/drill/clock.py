"""The clock of a drill: wall time since its start, whoever was running meanwhile."""

from __future__ import annotations

from collections.abc import Sequence

from grader.drill.model import FINISHED, TALKED, Drill, Event


def spent(drill: Drill, now: float) -> float:
    """Seconds since the start; a computer's clock that was set back gives no time before it."""
    return max(0.0, now - drill.started)


def stop(events: Sequence[Event], now: float) -> float:
    """When the clock stopped, now if it runs; that of a talk stops before it is marked."""
    return next((event.at for event in events if event.what in (TALKED, FINISHED)), now)


def left(drill: Drill, now: float) -> float:
    """Seconds until time is up; negative in overtime."""
    return drill.minutes * 60 - spent(drill, now)


def write_seconds(seconds: float) -> str:
    """18:05 of 18 minutes 5 seconds; hours are minutes too, and a fraction has not yet passed."""
    whole = int(abs(seconds))
    return f"{whole // 60}:{whole % 60:02d}"
