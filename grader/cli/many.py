"""A course: gather, grade, sum up."""

from __future__ import annotations

import sys

from grader.cli import console
from grader.cli.codes import INTERRUPTED, NOT_PASSED, OUR_FAULT, PASSED
from grader.cli.options import Asked
from grader.cli.single import check_format
from grader.course.command import Console, grade_course
from grader.course.store import Result
from grader.errors import BankError, UsageError
from grader.model import Message
from grader.reports import FORMATS
from grader.texts import Texts


def grade_many(asked: Asked, texts: Texts) -> int:
    """The exit code of a course, once its results are kept and its figures shown."""
    check_format(asked)
    plain = asked.format_ == "terminal"

    def tell(line: str) -> None:
        print(console.tidy(line), file=sys.stderr, flush=True)

    def overwrite(line: str) -> None:
        print(f"\r\x1b[K{console.tidy(line)}", end="", file=sys.stderr, flush=True)

    lively = sys.stderr.isatty()
    told = Console(texts, console.show if plain else tell, tell, overwrite if lively else None)
    try:
        results, fine = grade_course(asked.paths or [], asked.options(), told)
    except KeyboardInterrupt:
        kept = asked.results is not None
        console.say(texts, Message("course.stopped" if kept else "course.not-kept"))
        return INTERRUPTED
    except BankError as error:
        # A course's own file is wrong, and whoever wrote it is here.
        raise UsageError(error.message.key, **error.message.fields) from None
    if not plain:
        console.write("".join(_render(r, asked, texts) for r in results), asked.output, texts)
    if any(result.graded.report.has_errors for result in results):
        return OUR_FAULT
    return PASSED if fine else NOT_PASSED


def _render(result: Result, asked: Asked, texts: Texts) -> str:
    return FORMATS[asked.format_](result.graded.report, texts, asked.view())
