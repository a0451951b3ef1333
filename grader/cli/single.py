"""One file: read it, grade it, write the report."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone
from pathlib import PurePath

from grader.bank import load_exercise
from grader.cli.codes import NOT_PASSED, OUR_FAULT, PASSED, UNUSABLE
from grader.cli.console import write
from grader.cli.course import read_course, view_of
from grader.cli.options import Asked
from grader.course.naming import recognise
from grader.course.settings import Settings, open_banks
from grader.errors import UsageError
from grader.grading import Request, grade, reproduce
from grader.intake import read_submission
from grader.model import Graded, Report, Submission
from grader.reports import FORMATS
from grader.sandbox.forge import Forge, open_forge
from grader.sandbox.launch import Launched, hide_memory
from grader.texts import Texts


def grade_file(asked: Asked, launched: Launched | None, texts: Texts) -> int:
    """The exit code of one file's report, once that is written."""
    assert asked.paths
    check_numbers(asked)
    check_format(asked)
    settings, texts = read_course(asked, texts)
    if settings.banks or settings.visibility:
        open_banks(settings)
    request = replace(asked.request(), terms=settings.terms)
    if request.exercise is None:
        request = replace(request, exercise=settings.exercise)
    if request.exercise is not None:
        load_exercise(request.exercise)
    submission = read_submission(asked.paths[0])
    hide_memory()
    forge = open_forge(launched)
    if asked.repro is not None:
        return write_repro(asked, request, submission, forge, settings, texts)
    try:
        report = grade(submission, forge, request)
    finally:
        forge.close()
    write(render(report, asked, settings, texts), asked.output, texts)
    return exit_code(report, asked.min_score)


def render(report: Report, asked: Asked, settings: Settings, texts: Texts) -> str:
    """The report in the format asked for; hosts show it to students."""
    view = view_of(asked, settings)
    name = asked.format_
    if name in FORMATS and not asked.for_students:
        return FORMATS[name](report, texts, view)
    # Imported here: to look at one's own file needs none of it.
    from grader.cli.exports import show_student
    from grader.exports import EXPORTS, HOSTS

    at = datetime.now(timezone.utc).isoformat(timespec="seconds")
    graded = Graded(recognise(PurePath(report.submission.path).name).student, report, at)
    if name in HOSTS or asked.for_students:
        graded = show_student(graded, settings)
    if name in FORMATS:
        return FORMATS[name](graded.report, texts, view)
    if name in HOSTS:
        return HOSTS[name](graded, texts, view)
    return "".join(EXPORTS[name]([graded], texts, view))


def write_repro(
    asked: Asked,
    request: Request,
    submission: Submission,
    forge: Forge,
    settings: Settings,
    texts: Texts,
) -> int:
    """A plain-torch script that shows one case of this file, unless the course keeps it back."""
    # Imported here: no other option needs it.
    from grader.repro import write_script

    assert asked.repro is not None
    try:
        found = reproduce(submission, forge, request, asked.repro, settings.visibility)
    finally:
        forge.close()
    write(
        write_script(found.posed, submission, request.seed, found.axes, texts), asked.output, texts
    )
    return PASSED


def check_format(asked: Asked) -> None:
    """Refuse what is neither a format for people nor one for another system."""
    if asked.format_ in FORMATS:
        return
    from grader.exports import EXPORTS, HOSTS

    known = dict.fromkeys((*FORMATS, *EXPORTS, *HOSTS))
    if asked.format_ not in known:
        raise UsageError("usage.format", wanted=asked.format_, known=", ".join(known))


def check_numbers(asked: Asked) -> None:
    """Refuse numbers that mean nothing."""
    if asked.hints not in (None, *range(4)):
        raise UsageError("usage.hints", hints=asked.hints)
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
