"""The folder of a drill: made once, never over anything, with a marker that says whose it is."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

from grader.disk import reaching
from grader.drill.model import Drill, Prepared
from grader.errors import UsageError

MARKER = ".mha-drill"


def make_folder(path: Path, name: str, prepared: Prepared) -> None:
    """A new folder with the file to work on; raises UsageError where there is something already."""
    try:
        with reaching(path, "file.not-created"):
            path.mkdir(parents=True, exist_ok=True)
            if any(path.iterdir()):
                raise UsageError("drill.folder-taken", path=str(path))
            try:
                with open(path / prepared.file, "x", encoding="utf-8") as file:
                    file.write(prepared.text)
                (path / MARKER).write_text(json.dumps({"drill": name}) + "\n", encoding="utf-8")
            except OSError:
                remove_folder(path, prepared)
                raise
    except UsageError as error:
        raise error from None


def remove_folder(path: Path, prepared: Prepared) -> None:
    """Take back what `make_folder` made, where no drill came of it."""
    with contextlib.suppress(OSError):
        for name in (prepared.file, MARKER):
            (path / name).unlink(missing_ok=True)
        path.rmdir()


def marked(folder: Path) -> str | None:
    """The id of the drill whose folder this is."""
    try:
        found = json.loads((folder / MARKER).read_text(encoding="utf-8"))["drill"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return str(found)


def file_of(drill: Drill) -> Path:
    """The file that the candidate works on."""
    return Path(drill.folder) / drill.file
