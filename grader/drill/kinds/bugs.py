"""Find the bugs: a right answer with known mistakes planted in it, to be repaired."""

from __future__ import annotations

from dataclasses import asdict

from grader.drill.kinds.implement import describe_exercise
from grader.drill.looks import look_at
from grader.drill.model import Drill, Grade, Look, Prepared, Settled
from grader.drill.planting import Planted, compare, plant
from grader.files import stem_of
from grader.model import Submission
from grader.texts import Texts


class Bugs:
    """The file is what was planted; graded like any answer, settled by what was planted."""

    minutes = 15.0
    runs_code = True
    is_talk = False

    def prepare(self, exercise: str, seed: int) -> Prepared:
        """An answer in some style, with one to four mistakes in it."""
        planted = plant(seed, exercise)
        return Prepared(exercise, f"{stem_of(exercise)}.py", planted.source, asdict(planted))

    def task(self, drill: Drill, texts: Texts) -> str:
        """How many mistakes there are, and what the file was to do."""
        count = len(Planted.restore(drill.plan).mistakes)
        spoken = describe_exercise(drill.exercise, texts)
        return f"{texts('drill.task.bugs', count=count)}\n\n{spoken}"

    def look(self, drill: Drill, submission: Submission, grade: Grade) -> Look:
        """The whole bank on this file."""
        return look_at(grade(submission))

    def settle(self, drill: Drill, look: Look | None) -> Settled | None:
        """Which of the planted mistakes are gone, and what is wrong that was not planted."""
        planted = Planted.restore(drill.plan)
        if look is None or look.report is None:
            return Settled(left=planted.mistakes)
        repair = compare(planted, look.report)
        broken = [one.mistake or ", ".join(one.cases) for one in repair.broken]
        return Settled(repair.found, repair.left, tuple(broken))
