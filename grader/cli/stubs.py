"""The exercises: their list, and a stub to begin with."""

from __future__ import annotations

from pathlib import Path

from grader.bank import exercise_ids, load_exercise
from grader.errors import UsageError
from grader.files import locate
from grader.texts import Texts


def list_exercises(texts: Texts) -> str:
    """One line for each."""
    lines = [texts("list.title")]
    for name in exercise_ids():
        found = load_exercise(name)
        inputs = ", ".join(found.contract.inputs)
        lines.append("  " + texts("list.entry", id=name, cases=len(found.cases), inputs=inputs))
    return "\n".join(lines) + "\n"


def check_exercise(name: str) -> None:
    """Refuse what is no exercise: free files have a bank, but no stub and no model answer."""
    if name not in exercise_ids():
        raise UsageError("exercise.unknown", wanted=name, known=", ".join(exercise_ids()))


def write_stub(name: str) -> Path:
    """A stub in the current folder, never over a file that is there."""
    check_exercise(name)
    stub = locate("exercises", name)
    path = Path(stub.name)
    if not stub.is_file():
        raise UsageError("exercise.no-file", wanted=name, path=f"exercises/{path}")
    text = stub.read_text(encoding="utf-8")
    try:
        with open(path, "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise UsageError("file.exists", path=str(path)) from None
    except OSError as error:
        raise UsageError("file.not-created", path=str(path), detail=error.strerror) from None
    return path
