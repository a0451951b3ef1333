"""Whose a file is, by the names that learning systems give their downloads.

Canvas:      lastfirst_LATE_1234_567890_answer-2.py      (user id, submission id)
Moodle:      Full Name_98765_assignsubmission_file_/answer.py   (participant number)
Gradescope:  submission_123456/answer.py, and submission_metadata.yml with the people
otherwise:   the folder a file is in, or its own name
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any, NamedTuple

import yaml

from grader.files import LOADER

CANVAS = re.compile(
    r"(?P<name>[^\W_]+)_(?:LATE_)?(?P<student>\d+)_(?P<submission>\d+)_.+", re.IGNORECASE
)
MOODLE = re.compile(r"(?P<name>.+?)_(?P<student>\d+)_assignsubmission_\w*")
GRADESCOPE = re.compile(r"submission_\d+")


class Owner(NamedTuple):
    """The id that a gradebook knows a student by, and the name if the download has one."""

    student: str
    name: str = ""


def recognise(inside: str, owners: Mapping[str, Owner] | None = None) -> Owner:
    """Whose the file at this path within a download is."""
    path = PurePosixPath(inside.replace("\\", "/"))
    folders = path.parts[:-1]
    for part in reversed(folders):
        if owners and part in owners:
            return owners[part]
        if GRADESCOPE.fullmatch(part):
            return Owner(part)
    for part in (*reversed(folders), path.name):
        found = MOODLE.match(part)
        if found:
            return Owner(found["student"], found["name"])
    found = CANVAS.fullmatch(path.stem)
    if found:
        return Owner(found["student"], found["name"])
    return Owner(folders[0] if folders else path.stem)


def read_owners(raw: bytes) -> dict[str, Owner]:
    """Folder -> student, of a Gradescope export's metadata; empty where they say nothing."""
    try:
        data = yaml.load(raw, Loader=LOADER)
    except (yaml.YAMLError, ValueError, RecursionError):
        return {}
    if not isinstance(data, dict):
        return {}
    found = {str(folder): _owner(entry) for folder, entry in data.items()}
    return {folder: owner for folder, owner in found.items() if owner is not None}


def _owner(entry: Any) -> Owner | None:
    people = _get(entry, "submitters")
    person = people[0] if isinstance(people, list) and people else None
    student = _word(person, "sid") or _word(person, "email")
    return Owner(student, _word(person, "name")) if student else None


def _word(mapping: Any, key: str) -> str:
    """A word or a number; "" for anything else, which may be a list that has no end of lists."""
    found = _get(mapping, key)
    return str(found or "") if isinstance(found, (str, int, float)) else ""


def _get(mapping: Any, key: str) -> Any:
    """Gradescope writes its keys with a colon in front."""
    if not isinstance(mapping, dict):
        return None
    return mapping.get(f":{key}", mapping.get(key))
