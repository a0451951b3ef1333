"""How a worker ended, told by who could wait for it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Ended:
    """How a worker ended: exit code (negative: the signal), processor seconds, peak memory."""

    exit_code: int
    cpu_seconds: float = 0.0
    max_rss_kib: int = 0
