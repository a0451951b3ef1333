"""Reads an exercise from its YAML file; a key nobody knows is refused by name."""

from __future__ import annotations

import functools
import hashlib
import inspect
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, NoReturn

import yaml

from grader.bank.checks import CHECKS
from grader.errors import BankError, UsageError
from grader.files import PACKAGE, stem_of
from grader.model import Case, Contract, Exercise, Limits

BANK = PACKAGE / "bank"
TOP_KEYS = ("contract", "areas", "cases", "limits")
CASE_KEYS = ("id", "area", "check", "points", "catches", "args", "after")
AREAS = (
    "divisibility",
    "shapes",
    "scaling",
    "causal-mask",
    "padding-mask",
    "combined-masks",
    "all-masked-rows",
    "cross-attention",
    "non-contiguous",
    "mixed-precision",
    "gradients",
    "dropout",
    "state",
)
# The checks' own parameters before the ones a case may set.
GIVEN = ("bench", "case")


def exercise_ids(folder: Path = BANK) -> tuple[str, ...]:
    """The ids of all exercises in the bank."""
    return tuple(sorted(path.stem.replace("_", "-") for path in folder.glob("*.yaml")))


@functools.cache
def load_exercise(exercise: str, folder: Path = BANK) -> Exercise:
    """One exercise, checked in full; UsageError for an unknown id, BankError for bad data."""
    path = folder / f"{stem_of(exercise)}.yaml"
    if not path.is_file():
        raise UsageError("exercise.unknown", wanted=exercise, known=", ".join(exercise_ids(folder)))
    raw = path.read_bytes()
    # libyaml's loader is ten times faster and not on every platform.
    try:
        data = yaml.load(raw, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError as error:
        raise BankError(
            "bank.not-yaml", file=path.name, detail=" ".join(str(error).split())
        ) from None
    _only(path, "", data, TOP_KEYS)
    cases = tuple(_read_case(path, row) for row in data["cases"])
    found = Exercise(
        id=exercise,
        contract=_read_contract(path, data["contract"]),
        areas={area: float(points) for area, points in data["areas"].items()},
        cases=cases,
        limits=_read_limits(path, data.get("limits", {})),
        version=hashlib.sha256(raw).hexdigest()[:12],
    )
    _check_whole(path, found)
    return found


def _read_contract(path: Path, data: Mapping[str, Any]) -> Contract:
    _only(path, "contract", data, ("inputs", "mask", "causal"))
    return Contract(tuple(data["inputs"]), data["mask"], data["causal"])


def _read_limits(path: Path, data: Mapping[str, Any]) -> Limits:
    _only(path, "limits", data, [field.name for field in fields(Limits)])
    return Limits(**data)


def _read_case(path: Path, row: Mapping[str, Any]) -> Case:
    name = str(row.get("id", "?"))
    _only(path, name, row, CASE_KEYS)
    for key in ("id", "area", "check", "points", "catches"):
        if key not in row:
            _refuse(path, name, key, CASE_KEYS, "bank.missing-key")
    if row["check"] not in CHECKS:
        _refuse(path, name, row["check"], CHECKS, "bank.unknown-check")
    allowed = [p for p in inspect.signature(CHECKS[row["check"]]).parameters if p not in GIVEN]
    _only(path, name, row.get("args", {}), allowed)
    return Case(
        id=name,
        area=row["area"],
        check=row["check"],
        points=float(row["points"]),
        catches=row["catches"],
        args=row.get("args", {}),
        after=tuple(row.get("after", ())),
    )


def _check_whole(path: Path, exercise: Exercise) -> None:
    seen: set[str] = set()
    for case in exercise.cases:
        if case.id in seen:
            _refuse(path, case.id, case.id, (), "bank.duplicate-case")
        if case.area not in exercise.areas:
            _refuse(path, case.id, case.area, exercise.areas, "bank.unknown-area")
        for earlier in case.after:
            if earlier not in seen:
                _refuse(path, case.id, earlier, seen, "bank.unknown-prerequisite")
        seen.add(case.id)
    _only(path, "areas", exercise.areas, AREAS)
    sums: Counter[str] = Counter()
    for case in exercise.cases:
        sums[case.area] += case.points  # type: ignore[assignment]
    for area, points in exercise.areas.items():
        if abs(sums[area] - points) > 1e-9:
            _refuse(path, area, f"{sums[area]:g} != {points:g}", (), "bank.points")
    if abs(sum(exercise.areas.values()) - 100) > 1e-9:
        _refuse(path, "areas", f"{sum(exercise.areas.values()):g} != 100", (), "bank.points")


def _only(path: Path, where: str, data: Iterable[str], allowed: Iterable[str]) -> None:
    known = list(allowed)
    for key in data:
        if key not in known:
            _refuse(path, where, key, known, "bank.unknown-key")


def _refuse(path: Path, where: str, key: str, allowed: Iterable[str], text: str) -> NoReturn:
    raise BankError(text, file=path.name, where=where, name=key, allowed=", ".join(allowed))
