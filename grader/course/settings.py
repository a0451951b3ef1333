"""What a course has decided, in a YAML file of its own."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from grader.bank import exercise_ids, load_exercise, use_banks
from grader.bank.helpers import read_helpers
from grader.bank.loader import AREAS
from grader.bank.schema import Reader, read_yaml
from grader.course.options import Options
from grader.disk import read_bytes
from grader.errors import UsageError
from grader.model import FREE, Limits, Terms

KEEP = ("latest", "best", "all")
SHOWN = ("visible", "name-only", "after-deadline", "hidden")
HINTS = ("0", "1", "2", "3")
DEFAULT = "default"
KEYS = (
    "exercise",
    "files",
    "keep",
    "weights",
    "limits",
    "hints",
    "language",
    "visibility",
    "deadline",
    "banks",
    "packages",
    "helpers",
)


@dataclass(frozen=True)
class Settings:
    """A course file, read. What it leaves out is as for a single file.

    `exercise` is the one that all files answer, None for each by its own header; `files` a pattern
    of names; `keep` which of a student's files counts; `visibility` says by case, by area or by
    "default" what students see, `deadline` when the rest is shown to them; `banks` are folders
    beside the course file with exercises of its own.
    """

    exercise: str | None = None
    files: str = "*"
    keep: str = "latest"
    terms: Terms = field(default_factory=Terms)
    hints: int | None = None
    language: str | None = None
    visibility: Mapping[str, str] = field(default_factory=dict)
    deadline: datetime.datetime | None = None
    banks: tuple[Path, ...] = ()


def choose_settings(options: Options) -> Settings:
    """The course's settings, with what the command line says instead."""
    settings = read_settings(options.course) if options.course else Settings()
    if options.keep is not None and options.keep not in KEEP:
        raise UsageError("course.keep", wanted=options.keep, known=", ".join(KEEP))
    return replace(
        settings,
        exercise=options.exercise or settings.exercise,
        keep=options.keep or settings.keep,
        terms=replace(settings.terms, packages=(*settings.terms.packages, *options.packages)),
        # Whole paths: a lane may run elsewhere.
        banks=tuple(bank.resolve() for bank in (*settings.banks, *options.banks)),
    )


def open_banks(settings: Settings) -> None:
    """Put the course's own exercises in use, and refuse what none of all has a case or area for."""
    use_banks(settings.banks)
    if settings.visibility:
        exercises = [load_exercise(name) for name in (*exercise_ids(), FREE)]
        cases = {case.id for exercise in exercises for case in exercise.cases}
        for name in settings.visibility:
            if name not in cases and name not in (DEFAULT, *AREAS):
                raise UsageError("course.no-such-case", wanted=name)


def read_settings(path: Path) -> Settings:
    """A course file; raises BankError naming file and key, UsageError where there is no file."""
    raw = read_bytes(path)
    reader = Reader(path.name)
    data = reader.mapping(read_yaml(reader.name, raw) or {}, "file", KEYS)
    packages = tuple(map(str, reader.items(data.get("packages", []), "packages")))
    chosen: dict[str, Any] = {
        key: str(data[key]) for key in ("exercise", "files", "language") if key in data
    }
    if "keep" in data:
        chosen["keep"] = reader.choice(data["keep"], "keep", KEEP)
    if "hints" in data:
        chosen["hints"] = int(reader.choice(str(data["hints"]), "hints", HINTS))
    if "deadline" in data:
        chosen["deadline"] = _read_time(reader, data["deadline"])
    return Settings(
        **chosen,
        terms=Terms(
            _read_weights(reader, data),
            _read_limits(reader, data),
            packages,
            read_helpers(reader, data.get("helpers", []), path.parent, packages),
        ),
        visibility=_read_visibility(reader, data),
        banks=tuple(
            path.parent / str(folder) for folder in reader.items(data.get("banks", []), "banks")
        ),
    )


def _read_weights(reader: Reader, data: Mapping[str, Any]) -> dict[str, float]:
    found = reader.mapping(data.get("weights", {}), "weights", AREAS)
    return {
        # An area may count for nothing.
        str(area): 0.0 if points == 0 else reader.number(points, f"weights: {area}")
        for area, points in found.items()
    }


def _read_limits(reader: Reader, data: Mapping[str, Any]) -> dict[str, float]:
    found = reader.mapping(data.get("limits", {}), "limits", [one.name for one in fields(Limits)])
    return {name: reader.number(value, f"limits: {name}") for name, value in found.items()}


def _read_visibility(reader: Reader, data: Mapping[str, Any]) -> dict[str, str]:
    found = data.get("visibility", {})
    if not isinstance(found, dict):
        found = {DEFAULT: found}
    return {
        str(name): reader.choice(shown, f"visibility: {name}", SHOWN)
        for name, shown in found.items()
    }


def _read_time(reader: Reader, value: Any) -> datetime.datetime:
    """A time with its zone; one without is the grading machine's own."""
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        value = datetime.datetime.combine(value, datetime.time.max)
    try:
        read = value if isinstance(value, datetime.datetime) else None
        return (read or datetime.datetime.fromisoformat(str(value))).astimezone()
    except ValueError:
        reader.refuse("bank.wrong-value", "deadline", value, ["2026-12-24T23:59:00+01:00"])
