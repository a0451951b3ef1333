"""Banks of a course's own: folders with exercises, their sentences, stubs and model answers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from grader.bank.loader import load_exercise
from grader.bank.schema import Reader, read_yaml
from grader.errors import GraderError, UsageError
from grader.files import banks, id_of, set_banks
from grader.texts import languages

EXERCISE_FILE = re.compile(r"[a-z0-9]+(_[a-z0-9]+)*\.yaml")


def use_banks(folders: Iterable[str | Path]) -> None:
    """From now on, in this process, exercises come from these folders too; of none, as at first.

    A later folder goes before an earlier one, and all go before the package. Everything in them is
    read and checked at once: UsageError for what is no folder, and for bad data, since here whoever
    wrote it has named it. The banks in use then stay those before.
    """
    before = banks().folders
    chosen = tuple(Path(folder) for folder in folders)
    try:
        for folder in chosen:
            _check_names(folder)
        set_banks(chosen)
        for folder in chosen:
            _check_content(folder)
    except GraderError as error:
        set_banks(before)
        raise UsageError(error.message.key, **error.message.fields) from None


def _check_names(folder: Path) -> None:
    if not folder.is_dir():
        raise UsageError("bank.no-folder", path=str(folder))
    # A file under a name that nobody looks for would be left out without a word.
    for path in sorted(folder.glob("*.y*ml")):
        if not EXERCISE_FILE.fullmatch(path.name):
            Reader(str(folder)).refuse("bank.file-name", "file", path.name)
    if not any(folder.glob("*.yaml")):
        raise UsageError("bank.no-exercise", path=str(folder))


def _check_content(folder: Path) -> None:
    """Every exercise and every sentence of one folder."""
    names = sorted(id_of(path) for path in folder.glob("*.yaml"))
    for name in names:
        load_exercise(name)
    for path in sorted((folder / "texts").glob("*")):
        reader = Reader(str(path))
        reader.choice(path.name, "texts", [f"{language}.yaml" for language in languages()])
        allowed = [f"exercise.{name}" for name in names]
        data = read_yaml(reader.name, path.read_bytes())
        for key, sentence in reader.mapping(data, "file", allowed).items():
            if not isinstance(sentence, str) or not sentence.strip():
                reader.refuse("bank.wrong-value", key, sentence, ["a sentence"])
