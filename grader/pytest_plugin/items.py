"""What pytest sees: a file with its cases, graded as a whole when the first of them runs."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

import pytest

from grader.errors import GraderError
from grader.grading import Request, grade
from grader.model import Case, Exercise, Message, Outcome, Report, Submission, Verdict
from grader.reports import PLAIN
from grader.reports.failures import write_case
from grader.sandbox.forge import Forge, open_forge
from grader.sandbox.launch import hide_memory
from grader.texts import Texts


@dataclass(frozen=True)
class Task:
    """A file, and the exercise it is graded by."""

    submission: Submission
    exercise: Exercise


class Grading:
    """What all files of a run share: seed, language, and where workers come from."""

    def __init__(self, seed: int, texts: Texts) -> None:
        self.seed = seed
        self.texts = texts

    @functools.cached_property
    def forge(self) -> Forge:
        """Opened when the first file is graded: collecting needs no worker."""
        hide_memory()
        return open_forge()

    def close(self) -> None:
        """End what was started."""
        if "forge" in self.__dict__:
            self.forge.close()


class GradedFile(pytest.File):
    """One file; its cases are known before it is graded."""

    def __init__(self, *, grading: Grading, task: Task, **options: Any) -> None:
        super().__init__(**options)
        self.grading = grading
        self.task = task

    def collect(self) -> Iterator[CaseItem]:
        """An item for each case, in the bank's order."""
        for case in self.task.exercise.cases:
            yield CaseItem.from_parent(self, name=case.id, case=case)

    @functools.cached_property
    def graded(self) -> Report | Message:
        """The whole file's report, or why there is none; made once."""
        request = Request(self.grading.seed, self.task.exercise.id, walked=False)
        try:
            return grade(self.task.submission, self.grading.forge, request)
        except GraderError as error:
            return error.message
        except Exception as error:
            said = {"type": type(error).__name__, "text": str(error)[:200]}
            return Message("error.grader", said)


class CaseItem(pytest.Item):
    """One case of one file."""

    parent: GradedFile

    def __init__(self, *, case: Case, **options: Any) -> None:
        super().__init__(**options)
        self.case = case
        # So that -k takes an area too.
        self.extra_keyword_matches.add(case.area)

    def prepare(self) -> None:
        """Grade; say what pytest must know before the case runs.

        A case that was not judged is skipped. Our own fault is raised here, so that pytest counts
        it as an error and not as a failure.
        """
        report, texts = self.parent.graded, self.parent.grading.texts
        if isinstance(report, Message):
            _fail(texts.say(report))
        verdict = self._find(report)
        if verdict is None:
            return
        said = texts.say(verdict.message) if verdict.message else ""
        if verdict.outcome is Outcome.ERROR:
            _fail(said)
        if verdict.outcome is Outcome.NOT_APPLICABLE:
            said = texts("pytest.not-applicable", reason=said)
        if verdict.outcome in (Outcome.SKIPPED, Outcome.NOT_APPLICABLE):
            self.add_marker(pytest.mark.skip(reason=said))
        elif verdict.outcome is Outcome.PASSED and said:
            self.add_report_section("call", "mha-grade", said)
        self.user_properties += _describe(verdict)

    def runtest(self) -> None:
        """Fail in the report's words, if the case did not pass."""
        report, texts = self.parent.graded, self.parent.grading.texts
        assert isinstance(report, Report)
        if report.refusal is not None:
            _fail(f"{texts('heading.refused')}\n  {texts.say(report.refusal)}")
        verdict = self._find(report)
        if verdict is None or verdict.outcome is Outcome.FAILED:
            _fail("\n".join(write_case(report, self.case.id, texts, PLAIN)))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The words alone, without the exception's name before them."""
        if isinstance(excinfo.value, pytest.fail.Exception):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def _find(self, report: Report) -> Verdict | None:
        """The decision on this case; None where the file cannot be graded."""
        return next((v for v in report.verdicts if v.case == self.case.id), None)

    def reportinfo(self) -> tuple[os.PathLike[str] | str, int | None, str]:
        """The file; in which line the fault is stands in the text, where it is known."""
        return self.path, 0, self.case.id


def _describe(verdict: Verdict) -> Iterator[tuple[str, object]]:
    """What JUnit's readers may want to sort by."""
    yield "area", verdict.area
    yield "points", verdict.points
    yield "max_points", verdict.max_points
    if verdict.mistake:
        yield "mistake", verdict.mistake


def _fail(said: str) -> NoReturn:
    """In words and without a traceback: its frames are ours, and locals hold expected values."""
    pytest.fail(said, pytrace=False)
