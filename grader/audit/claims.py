"""One exercise put to the test: its model answer, its stub, and every known mistake in a module."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from grader.audit.specimens import load_file, make_specimen
from grader.grading import Request, grade
from grader.mistakes import CATALOGUE, known_for
from grader.model import Case, Exercise, Message, Outcome, Report, Submission
from grader.sandbox.forge import Forge

# Is told of each file before it is graded.
Progress = Callable[[Message], None]


@dataclass(frozen=True)
class Audit:
    """The reports on an exercise's own files; `trials` has one for each mistake, by its id."""

    exercise: Exercise
    answer: Report
    stub: Report
    trials: Mapping[str, Report]

    def failing(self, mistake: str) -> list[str]:
        """The cases that fail for this mistake."""
        return [v.case for v in self.trials[mistake].verdicts if v.outcome is Outcome.FAILED]

    def following(self, mistake: str) -> list[str]:
        """The cases that see this mistake and do not charge it, since another area does."""
        verdicts = self.trials[mistake].verdicts
        return [v.case for v in verdicts if v.message and v.message.key == "followed"]

    def caught_by(self, case: Case) -> list[str]:
        """The mistakes for which this case fails."""
        return [mistake for mistake in self.trials if case.id in self.failing(mistake)]

    def names(self, mistake: str) -> list[str]:
        """What the grader called this mistake: its own id, and nothing else, where all is well."""
        named = {v.mistake for v in self.trials[mistake].verdicts if v.mistake}
        return sorted(named & set(CATALOGUE))

    def idle(self) -> list[Case]:
        """Cases that no mistake fails: there for faults that the catalogue does not have."""
        return [case for case in self.exercise.cases if not self.caught_by(case)]

    def broken(self) -> Iterator[Message]:
        """The claims that do not hold."""
        own = {"exercise": self.exercise.id}
        if not self.answer.all_passed or self.answer.score != self.answer.max_score:
            yield Message("audit.answer-loses", own | {"score": self.answer.score})
        if self.stub.score:
            yield Message("audit.stub-earns", own | {"score": self.stub.score})
        for name, report in self.trials.items():
            if report.refusal is not None:
                yield Message("audit.refused", own | {"name": name, "inner": report.refusal})
            elif not self.failing(name):
                yield Message("audit.not-caught", own | {"name": name})
        files = {"reference": self.answer, "exercises": self.stub, **self.trials}
        for name, report in files.items():
            if report.has_errors:
                yield Message("audit.error", own | {"name": name})


def audit_exercise(exercise: Exercise, forge: Forge, seed: int, progress: Progress) -> Audit:
    """Grade the model answer, the stub, and the model answer with each mistake made in it."""
    files: dict[str, Submission] = {
        "reference": load_file("reference", exercise.id),
        "exercises": load_file("exercises", exercise.id),
    }
    files |= {m.id: make_specimen(exercise, m.id) for m in known_for(exercise.contract)}
    reports = {}
    for number, (name, submission) in enumerate(files.items(), 1):
        fields = {"number": number, "total": len(files), "name": name}
        progress(Message("audit.progress", {"exercise": exercise.id} | fields))
        reports[name] = grade(submission, forge, Request(seed, exercise.id))
    return Audit(exercise, reports.pop("reference"), reports.pop("exercises"), reports)
