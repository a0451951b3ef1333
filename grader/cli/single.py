"""One file: read it, grade it, write the report."""

from __future__ import annotations

from grader.bank import load_exercise
from grader.cli.codes import NOT_PASSED, OUR_FAULT, PASSED, UNUSABLE
from grader.cli.console import write
from grader.cli.options import Asked
from grader.errors import UsageError
from grader.grade import grade
from grader.intake import read_submission
from grader.model import Report
from grader.reports import FORMATS
from grader.sandbox.forge import open_forge
from grader.sandbox.launch import Launched, hide_memory
from grader.texts import Texts


def grade_file(asked: Asked, launched: Launched | None, texts: Texts) -> int:
    """The exit code of one file's report, once that is written."""
    assert asked.paths
    view, request = asked.view(), asked.request()
    check_format(asked)
    if request.exercise is not None:
        load_exercise(request.exercise)
    submission = read_submission(asked.paths[0])
    hide_memory()
    forge = open_forge(launched)
    try:
        report = grade(submission, forge, request)
    finally:
        forge.close()
    write(FORMATS[asked.format_](report, texts, view), asked.output, texts)
    return exit_code(report, asked.min_score)


def check_format(asked: Asked) -> None:
    """Refuse what no report can be: for one file, and for each of many."""
    if asked.hints not in (None, *range(4)):
        raise UsageError("usage.hints", hints=asked.hints)
    if asked.format_ not in FORMATS:
        raise UsageError("usage.format", wanted=asked.format_, known=", ".join(FORMATS))
    if asked.min_score is not None and not 0 <= asked.min_score <= 100:
        raise UsageError("usage.min-score", score=asked.min_score)


def exit_code(report: Report, min_score: float | None) -> int:
    """0 all passed (or the score is high enough), 1 not, 2 not gradable, 3 our own fault."""
    if report.has_errors:
        return OUR_FAULT
    if report.refusal is not None:
        return UNUSABLE
    passed = report.all_passed if min_score is None else report.score >= min_score
    return PASSED if passed else NOT_PASSED
