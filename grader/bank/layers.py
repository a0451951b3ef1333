"""An exercise's data as the package and the banks of a course give it together.

A file in a course's bank stands in place of one with the same name below it: of a bank named
earlier, or of the package. With `extends` it says only what is different from such a file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.bank.helpers import KEY, read_helpers
from grader.bank.schema import Reader, read_yaml
from grader.errors import UsageError
from grader.files import PACKAGE, id_of, stem_of
from grader.model import FREE

BANK = PACKAGE / "bank"
WHOLE_KEYS = ("contract", "areas", "cases", "limits", "packages", "helpers")
EXTENDING_KEYS = ("extends", "areas", "cases", "limits", "packages", "helpers")


@dataclass(frozen=True)
class Layer:
    """An exercise's data, the reader that names its uppermost file, and a hash of all its files."""

    reader: Reader
    data: Mapping[str, Any]
    version: str


def known_ids(folders: tuple[Path, ...]) -> tuple[str, ...]:
    """The ids of all exercises here and in the package, in alphabetical order."""
    found = {id_of(path) for folder in (BANK, *folders) for path in folder.glob("*.yaml")}
    return tuple(sorted(found - {FREE}))


def read_layer(exercise: str, folders: tuple[Path, ...]) -> Layer:
    """The data of one exercise; raises UsageError for an unknown id, BankError for bad data."""
    name = f"{stem_of(exercise)}.yaml"
    depth = next((n for n in range(len(folders), 0, -1) if (folders[n - 1] / name).is_file()), 0)
    if not depth and exercise not in (*known_ids(()), FREE):
        known = ", ".join(known_ids(folders))
        raise UsageError("exercise.unknown", wanted=exercise, known=known)
    path = (BANK, *folders)[depth] / name
    raw = path.read_bytes()
    # One name may stand in several banks, so a course's file is called by its whole path.
    reader = Reader(str(path) if depth else path.name)
    data = read_yaml(reader.name, raw)
    if not depth or not isinstance(data, dict) or "extends" not in data:
        whole = reader.mapping(data, "file", WHOLE_KEYS, WHOLE_KEYS[:3])
        return _with_helpers(Layer(reader, whole, _hash(raw)), path.parent)
    below = folders[: depth - 1]
    changes = reader.mapping(data, "file", EXTENDING_KEYS)
    base = reader.choice(changes["extends"], "extends", (*known_ids(below), FREE))
    found = read_layer(base, below)
    version = _hash(found.version.encode() + raw)
    own = _with_helpers(Layer(reader, changes, version), path.parent)
    return Layer(reader, _extend(found, own), own.version)


def _with_helpers(layer: Layer, folder: Path) -> Layer:
    """With its helpers read, since they lie beside this very file, and counted in its hash."""
    if KEY not in layer.data:
        return layer
    packages = map(str, layer.reader.items(layer.data.get("packages", []), "packages"))
    helpers = read_helpers(layer.reader, layer.data[KEY], folder, tuple(packages))
    version = _hash(f"{layer.version} {helpers}".encode())
    return Layer(layer.reader, {**layer.data, KEY: helpers}, version)


def _extend(base: Layer, changes: Layer) -> Mapping[str, Any]:
    """Areas and limits by key, cases by id and key; what is not named stays as it is."""
    extended = {part: {**_part(base, part), **_part(changes, part)} for part in ("areas", "limits")}
    rows = _rows(base)
    for name, row in _rows(changes).items():
        rows[name] = {**rows.get(name, {}), **row}
    given = {key: changes.data[key] for key in ("packages", KEY) if key in changes.data}
    return {**base.data, **extended, **given, "cases": list(rows.values())}


def _part(layer: Layer, name: str) -> Mapping[str, Any]:
    found = layer.data.get(name, {})
    return found if isinstance(found, dict) else layer.reader.mapping(found, name, ())


def _rows(layer: Layer) -> dict[str, Mapping[str, Any]]:
    """The cases by id."""
    rows: dict[str, Mapping[str, Any]] = {}
    for row in layer.reader.items(layer.data.get("cases", []), "cases"):
        name = row.get("id") if isinstance(row, dict) else None
        if not isinstance(name, str):
            layer.reader.refuse("bank.missing-key", "cases", "id", ["id"])
        if name in rows:
            layer.reader.refuse("bank.duplicate-case", name, name)
        rows[name] = row
    return rows


def _hash(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()[:12]
