"""Makes an exercise of its data; a key nobody knows is refused by name."""

from __future__ import annotations

import functools
import inspect
from collections import Counter
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from grader.bank.checks import CHECKS
from grader.bank.layers import known_ids, read_layer
from grader.bank.masks import KINDS, Sizes
from grader.bank.offers import OFFERS
from grader.bank.schema import Reader
from grader.files import Banks, banks
from grader.model import Case, Contract, Exercise, Limits

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
CASE_KEYS = ("id", "area", "check", "points", "catches", "args", "after", "needs")
# The checks' own parameters before the ones a case may set.
GIVEN = ("bench", "case")


def exercise_ids() -> tuple[str, ...]:
    """The ids of all exercises in use; files that answer none have a bank of their own."""
    return known_ids(banks().folders)


def load_exercise(exercise: str) -> Exercise:
    """One exercise, checked in full; UsageError for an unknown id, BankError for bad data."""
    return _load(exercise, banks())


@functools.cache
def _load(exercise: str, used: Banks) -> Exercise:
    layer = read_layer(exercise, used.folders)
    reader, data = layer.reader, layer.data
    areas = reader.mapping(data["areas"], "areas", AREAS)
    found = Exercise(
        id=exercise,
        contract=_read_contract(reader, data["contract"]),
        areas={area: reader.number(points, f"areas: {area}") for area, points in areas.items()},
        cases=tuple(_read_case(reader, row) for row in reader.items(data["cases"], "cases")),
        limits=_read_limits(reader, data.get("limits", {})),
        version=layer.version,
        packages=tuple(reader.items(data.get("packages", []), "packages")),
        helpers=data.get("helpers", ()),
    )
    _check_whole(reader, found)
    return found


def _read_contract(reader: Reader, data: Any) -> Contract:
    # The rest is never prescribed: it is what a file of its own kind turns out to do.
    keys = [field.name for field in fields(Contract)][:3]
    found = reader.mapping(data, "contract", keys, keys)
    return Contract(
        tuple(reader.items(found["inputs"], "contract: inputs")),
        reader.choice(found["mask"], "contract: mask", ("attention", "padding")),
        bool(found["causal"]),
    )


def _read_limits(reader: Reader, data: Any) -> Limits:
    keys = [field.name for field in fields(Limits)]
    found = reader.mapping(data, "limits", keys)
    numbers = {key: reader.number(value, f"limits: {key}") for key, value in found.items()}
    whole = {key: int(numbers[key]) for key in ("memory_mib", "output_kib") if key in numbers}
    return Limits(**numbers | whole)  # type: ignore[arg-type]


def _read_case(reader: Reader, row: Any) -> Case:
    name = str(row.get("id", "?")) if isinstance(row, dict) else "cases"
    row = reader.mapping(row, name, CASE_KEYS, CASE_KEYS[:5])
    if row["check"] not in CHECKS:
        reader.refuse("bank.unknown-check", name, row["check"], CHECKS)
    return Case(
        id=name,
        area=row["area"],
        check=row["check"],
        points=reader.number(row["points"], f"{name}: points"),
        catches=str(row["catches"]),
        args=_read_arguments(reader, name, row["check"], row.get("args", {})),
        after=tuple(reader.items(row.get("after", []), f"{name}: after")),
        needs=tuple(
            reader.choice(need, f"{name}: needs", OFFERS)
            for need in reader.items(row.get("needs", []), f"{name}: needs")
        ),
    )


def _read_arguments(reader: Reader, name: str, check: str, data: Any) -> Mapping[str, Any]:
    parameters = inspect.signature(CHECKS[check]).parameters
    allowed = [key for key in parameters if key not in GIVEN]
    required = [key for key in allowed if parameters[key].default is inspect.Parameter.empty]
    args = reader.mapping(data, name, allowed, required)
    if "sizes" in args:
        keys = [field.name for field in fields(Sizes)]
        for key, size in reader.mapping(args["sizes"], f"{name}: sizes", keys).items():
            reader.number(size, f"{name}: sizes: {key}")
    if "mask" in args:
        keys = ["kind", "form"]
        mask = reader.mapping(args["mask"], f"{name}: mask", keys, keys)
        reader.choice(mask["kind"], f"{name}: mask: kind", KINDS)
        for axis in str(mask["form"]).split():
            reader.choice(axis, f"{name}: mask: form", "bhqk1")
    return args


def _check_whole(reader: Reader, exercise: Exercise) -> None:
    seen: set[str] = set()
    sums: Counter[str] = Counter()
    for case in exercise.cases:
        if case.id in seen:
            reader.refuse("bank.duplicate-case", case.id, case.id)
        if case.area not in exercise.areas:
            reader.refuse("bank.unknown-area", case.id, case.area, exercise.areas)
        for earlier in case.after:
            if earlier not in seen:
                reader.refuse("bank.unknown-prerequisite", case.id, earlier, seen)
        seen.add(case.id)
        sums[case.area] += case.points  # type: ignore[assignment]
    for area, points in exercise.areas.items():
        if abs(sums[area] - points) > 1e-9:
            reader.refuse("bank.points", area, f"{sums[area]:g} != {points:g}")
    total = sum(exercise.areas.values())
    if abs(total - 100) > 1e-9:
        reader.refuse("bank.points", "areas", f"{total:g} != 100")
