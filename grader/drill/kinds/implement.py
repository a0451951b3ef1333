"""Write attention from memory: the stub of an exercise, graded at each save."""

from __future__ import annotations

from grader.drill.looks import look_at
from grader.drill.model import Drill, Grade, Look, Prepared, Settled
from grader.errors import UsageError
from grader.files import locate
from grader.model import Submission
from grader.texts import Texts


class Implement:
    """The stub is the file, the exercise's cases are the judge."""

    minutes = 25.0
    runs_code = True
    is_talk = False

    def prepare(self, exercise: str, seed: int) -> Prepared:
        """The stub as it is."""
        return Prepared(exercise, locate("exercises", exercise).name, read_stub(exercise))

    def task(self, drill: Drill, texts: Texts) -> str:
        """What an interviewer would say; of a course's own exercise, what its stub says."""
        spoken = describe_exercise(drill.exercise, texts)
        # The docstring of a course's own stub is the contract itself.
        is_spoken = f"drill.task.{drill.exercise}" in texts.sentences
        return f"{spoken}\n\n{texts('drill.task.contract')}" if is_spoken else spoken

    def look(self, drill: Drill, submission: Submission, grade: Grade) -> Look:
        """The whole bank on this file."""
        return look_at(grade(submission))

    def settle(self, drill: Drill, look: Look | None) -> Settled | None:
        """A stub has nothing wrong in it."""
        return None


def read_stub(exercise: str) -> str:
    """The stub's text; raises UsageError where a bank has none."""
    stub = locate("exercises", exercise)
    if not stub.is_file():
        raise UsageError("exercise.no-file", wanted=exercise, path=f"exercises/{stub.name}")
    return stub.read_text(encoding="utf-8")


def describe_exercise(exercise: str, texts: Texts) -> str:
    """The exercise in spoken words; where there are none, the docstring of its stub."""
    key = f"drill.task.{exercise}"
    if key in texts.sentences:
        return texts(key)
    import ast

    return ast.get_docstring(ast.parse(read_stub(exercise))) or ""
