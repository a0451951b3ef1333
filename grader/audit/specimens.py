"""Specimens: a model answer with one known mistake made in it, as a file a candidate could send."""

from __future__ import annotations

import functools
from pathlib import Path

from grader.bank.schema import Reader, read_yaml
from grader.errors import UsageError
from grader.files import PACKAGE, locate
from grader.intake import submit_text
from grader.mistakes import OF_EXERCISES
from grader.model import Exercise, Submission

PATH = PACKAGE / "audit" / "specimens.yaml"


@functools.cache
def read_edits(path: Path = PATH) -> dict[str, dict[str, str]]:
    """For each mistake: what stands in a model answer, and what it becomes."""
    reader = Reader(path.name)
    data = reader.mapping(
        read_yaml(reader.name, path.read_bytes()), "file", OF_EXERCISES, OF_EXERCISES
    )
    return {name: dict(reader.mapping(edits, name, edits)) for name, edits in data.items()}


def load_file(kind: str, exercise: str) -> Submission:
    """The exercise's file in the folder `reference` or `exercises`, as a submission."""
    path = locate(kind, exercise)
    if not path.is_file():
        raise UsageError("exercise.no-file", wanted=exercise, path=f"{kind}/{path.name}")
    return submit_text(f"{kind}/{path.name}", path.read_text(encoding="utf-8"))


def make_specimen(exercise: Exercise, mistake: str) -> Submission:
    """The model answer with this mistake made; raises BankError where no edit finds a place."""
    source = right = load_file("reference", exercise.id).source
    mask = "visible" if exercise.contract.causal else "mask"
    edits = read_edits()[mistake].items()
    for old, new in (
        (old.replace("{mask}", mask), new.replace("{mask}", mask)) for old, new in edits
    ):
        source = source.replace(old, new)
    if source == right:
        first = next(iter(edits))[0].replace("{mask}", mask)
        Reader(PATH.name).refuse("bank.no-place", f"{mistake}, {exercise.id}", first)
    return submit_text(f"{mistake}.py", source)
