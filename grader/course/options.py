"""How a course is to be graded, as far as the command line says."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Options:
    """What was asked for on the command line beyond the paths; None is "as the course says"."""

    seed: int
    results: Path | None = None
    course: Path | None = None
    exercise: str | None = None
    class_name: str | None = None
    keep: str | None = None
    shard: str | None = None
    merge: tuple[Path, ...] = ()
    regrade: bool = False
    banks: tuple[Path, ...] = ()
    packages: tuple[str, ...] = ()
    trust: bool = False
    jobs: int | None = None
    executor: str = "local"
    scheduler: str | None = None
    min_score: float | None = None
    pictured: bool = False


def is_course(path: Path) -> bool:
    """True for what holds several submissions, rather than being one."""
    return path.is_dir() or path.suffix.lower() in (".zip", ".csv")
