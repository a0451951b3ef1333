"""A course: gather, grade, sum up, hand over."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Collection

from grader.bank import exercise_ids
from grader.cli import console
from grader.cli.codes import INTERRUPTED, NOT_PASSED, OUR_FAULT, PASSED
from grader.cli.course import read_course, view_of
from grader.cli.exports import Shown, fill_gradebooks, write_feedback
from grader.cli.options import Asked
from grader.cli.single import check_numbers
from grader.course.command import Console, grade_course
from grader.course.gather import gather
from grader.course.settings import Settings
from grader.errors import UnusableSubmission, UsageError
from grader.exports import EXPORTS
from grader.files import locate
from grader.model import Graded, Message
from grader.reports import View
from grader.texts import Texts


def grade_many(asked: Asked, texts: Texts) -> int:
    """The exit code of a course, once its results are kept and its figures shown."""
    check_numbers(asked)
    known = ("terminal", "json", *EXPORTS)
    if asked.format_ not in known:
        raise UsageError("usage.format", wanted=asked.format_, known=", ".join(known))
    settings, texts = read_course(asked, texts)
    view = view_of(asked, settings)
    told = open_console(asked, texts)
    try:
        with grade_course(asked.paths or [], asked.options(), settings, told) as batch:
            seen = Shown(batch, settings) if asked.for_students else batch
            export(asked, seen, texts, view)
            if asked.feedback is not None:
                shown = Shown(batch, settings)
                write_feedback(asked.feedback, shown, texts, view, asked.format_)
            fill_gradebooks(asked, batch, texts)
            if asked.similar:
                told.show("\n" + list_similar(asked, settings, texts))
            return exit_code(batch, asked.min_score)
    except KeyboardInterrupt:
        kept = asked.results is not None
        console.say(texts, Message("course.stopped" if kept else "course.not-kept"), "mha-grade")
        return INTERRUPTED


def open_console(asked: Asked, texts: Texts) -> Console:
    """Figures to standard output unless that is for an export, progress to standard error."""

    def overwrite(line: str) -> None:
        print(f"\r\x1b[K{console.tidy(line)}", end="", file=sys.stderr, flush=True)

    plain = asked.format_ == "terminal" or asked.output is not None
    lively = sys.stderr.isatty()
    show = console.show if plain else console.note
    return Console(texts, show, console.note, overwrite if lively else None)


def export(asked: Asked, batch: Collection[Graded], texts: Texts, view: View) -> None:
    """The whole batch in one of the formats for programs, piece by piece."""
    if asked.format_ == "terminal":
        return
    # Of several files, JSON is an object a line.
    name = "jsonl" if asked.format_ == "json" else asked.format_
    console.write_all(EXPORTS[name](batch, texts, view), asked.output, texts)


def list_similar(asked: Asked, settings: Settings, texts: Texts) -> str:
    """Near-copies among the files, what a stub gives everyone left out."""
    from grader.similarity import find_similar, render_similarity

    sources = {}
    for entry in gather(asked.paths or [], settings.files):
        with contextlib.suppress(UnusableSubmission):
            sources[entry.key] = entry.read().source
    stubs = [locate("exercises", name) for name in exercise_ids()]
    known = [stub.read_text(encoding="utf-8") for stub in stubs if stub.is_file()]
    return render_similarity(find_similar(sources, known), texts)


def exit_code(batch: Collection[Graded], min_score: float | None) -> int:
    """0 all passed (or all scores are high enough), 1 not, 3 a fault of our own."""
    fine = True
    for graded in batch:
        report = graded.report
        if report.has_errors:
            return OUR_FAULT
        fine &= report.all_passed if min_score is None else report.score >= min_score
    return PASSED if fine else NOT_PASSED
