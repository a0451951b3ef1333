"""Where the data files are: the package's own, and those of banks that a course keeps for itself.

Which banks are in use is a fact about the whole process, like its language: exercises, sentences
and stubs must come from the same ones. What is read from them is remembered for one `Banks` and
for no other, so nothing outlives a change.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

PACKAGE = Path(__file__).resolve().parent
# libyaml's loader is ten times faster and not on every platform.
LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, eq=False)
class Banks:
    """Folders of a course, later ones first asked; equal to nothing but itself."""

    folders: tuple[Path, ...] = ()


_in_use = Banks()


def banks() -> Banks:
    """The banks in use besides the package's."""
    return _in_use


def set_banks(folders: Iterable[Path]) -> None:
    """From now on these; `grader.bank.use_banks` checks them too."""
    global _in_use
    _in_use = Banks(tuple(folders))


def folder(name: str) -> Path:
    """`exercises` or `reference`: inside the package once installed, beside it in a checkout."""
    inside = PACKAGE / name
    return inside if inside.is_dir() else PACKAGE.parent / name


def locate(kind: str, exercise: str) -> Path:
    """An exercise's file in `exercises` or `reference`: a bank's if one has it, or the package's.

    That it exists is not promised: a bank may do without.
    """
    name = f"{stem_of(exercise)}.py"
    own = (bank / kind / name for bank in reversed(banks().folders))
    return next((path for path in own if path.is_file()), folder(kind) / name)


def read_data(path: Path) -> Any:
    """What is in a YAML file that was checked before: by tests, or when a bank came into use."""
    return yaml.load(path.read_bytes(), Loader=LOADER)


def stem_of(exercise: str) -> str:
    """The file stem of an exercise id: Python modules have no hyphens."""
    return exercise.replace("-", "_")


def id_of(path: Path) -> str:
    """The exercise id of a file."""
    return path.stem.replace("_", "-")
