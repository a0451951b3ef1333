"""The command line of mha-grade: the only module that prints or exits."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from grader import __version__
from grader.bank import exercise_ids, load_exercise
from grader.clean import clean
from grader.errors import GraderError, TextError, UnusableSubmission, UsageError
from grader.files import folder, stem_of
from grader.grade import Request, grade
from grader.intake import read_submission
from grader.model import FREE, Message, Report
from grader.reports import FORMATS, View
from grader.reports.as_page import render_index, render_page
from grader.sandbox.forge import open_forge
from grader.sandbox.launch import Launched
from grader.texts import Texts, load_texts

PASSED, NOT_PASSED, UNUSABLE, OUR_FAULT = 0, 1, 2, 3
# What a shell expects of a program ended by Ctrl-C.
INTERRUPTED = 130
MAX_SEED = 2**63 - 1
MAX_LINE = 2000

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


def run(launched: Launched | None) -> None:
    """Read the command line and act; `launched` is a zygote already on its way up."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            # Closed by the caller: what would be printed has nowhere to go, and that is all.
            setattr(sys, name, io.StringIO())
        else:
            # A report may hold any character; a terminal that cannot show one gets an escape.
            stream.reconfigure(errors="backslashreplace")
    try:
        app(obj=launched)
    except KeyboardInterrupt:
        os._exit(INTERRUPTED)


@app.command(help="Grade multi-head attention written in FILE.")
def main(
    context: typer.Context,
    file: Annotated[Path | None, typer.Argument(help="The Python file to grade.")] = None,
    exercise: Annotated[str | None, typer.Option(help="The exercise it answers.")] = None,
    free: Annotated[bool, typer.Option("--free", help="Judge it by its own convention.")] = False,
    class_name: Annotated[str | None, typer.Option("--class", help="The class to grade.")] = None,
    format_: Annotated[str, typer.Option("--format", help="terminal or json.")] = "terminal",
    output: Annotated[Path | None, typer.Option(help="Write the report to this file.")] = None,
    lang: Annotated[str | None, typer.Option(help="en or zh.")] = None,
    seed: Annotated[int | None, typer.Option(help="Repeat the run that had this seed.")] = None,
    min_score: Annotated[float | None, typer.Option(help="Exit with 0 from this score on.")] = None,
    list_: Annotated[bool, typer.Option("--list", help="Name the exercises.")] = False,
    new: Annotated[str | None, typer.Option(help="Write an exercise's stub here.")] = None,
    hints: Annotated[int, typer.Option(help="0 none, 1 nudge, 2 pointer, 3 fix.")] = 1,
    walk: Annotated[bool, typer.Option("--walk", help="Show the way of the shapes.")] = False,
    answers: Annotated[bool, typer.Option("--answers", help="Show what to answer.")] = False,
    explain: Annotated[str | None, typer.Option(help="A mistake's page, or list.")] = None,
    check_bank: Annotated[
        bool, typer.Option("--check-bank", help="Put every known mistake to the bank.")
    ] = False,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Dispatch to what was asked for; every failure becomes one sentence and an exit code."""
    texts = load_texts("en")
    try:
        texts = load_texts(lang or _system_language())
        if version:
            _print(f"mha-grade {__version__}\n")
        elif list_:
            _print(_list(texts))
        elif explain is not None:
            is_index = explain == "list"
            _print(render_index(texts) if is_index else render_page(explain, texts))
        elif new is not None:
            _print(texts("new.written", path=_write_stub(new)) + "\n")
        elif check_bank:
            code = _check_bank(exercise, _check_seed(seed), output, texts)
            _leave(code)
        elif file is None:
            raise UsageError("usage.no-file")
        else:
            chosen = FREE if free else exercise
            walked = walk or format_ != "terminal"
            request = Request(_check_seed(seed), chosen, class_name, walked)
            view = View(hints, walk, answers)
            code = _grade(context.obj, file, request, format_, output, min_score, texts, view)
            _leave(code)
    except (UnusableSubmission, UsageError) as error:
        _say(texts, error.message)
        _leave(UNUSABLE)
    except GraderError as error:
        _say(texts, error.message)
        _leave(OUR_FAULT)
    except Exception as error:
        # A fault of ours, and still one sentence: the file and the seed are enough to find it.
        said = {"type": type(error).__name__, "text": str(error)[:200]}
        _say(texts, Message("error.grader", said))
        _leave(OUR_FAULT)


def _grade(
    launched: Launched | None,
    file: Path,
    request: Request,
    format_: str,
    output: Path | None,
    min_score: float | None,
    texts: Texts,
    view: View,
) -> int:
    if view.hints not in range(4):
        raise UsageError("usage.hints", hints=view.hints)
    if format_ not in FORMATS:
        raise UsageError("usage.format", wanted=format_, known=", ".join(FORMATS))
    if min_score is not None and not 0 <= min_score <= 100:
        raise UsageError("usage.min-score", score=min_score)
    if request.exercise is not None:
        load_exercise(request.exercise)
    submission = read_submission(file)
    forge = open_forge(launched)
    try:
        report = grade(submission, forge, request)
    finally:
        forge.close()
    _write(FORMATS[format_](report, texts, view), output, texts)
    return exit_code(report, min_score)


def exit_code(report: Report, min_score: float | None) -> int:
    """0 all passed (or the score is high enough), 1 not, 2 not gradable, 3 our own fault."""
    if report.has_errors:
        return OUR_FAULT
    if report.refusal is not None:
        return UNUSABLE
    passed = report.all_passed if min_score is None else report.score >= min_score
    return PASSED if passed else NOT_PASSED


def _check_bank(exercise: str | None, seed: int, output: Path | None, texts: Texts) -> int:
    """Every exercise, or the one named, put to the test; 0 when every claim holds."""
    # Imported here: no other option needs it.
    from grader.audit import audit_exercise, render_audits

    def tell(message: Message) -> None:
        print(texts.say(message), file=sys.stderr, flush=True)

    if exercise is not None:
        _check_exercise(exercise)
    exercises = [load_exercise(name) for name in ([exercise] if exercise else exercise_ids())]
    forge = open_forge()
    try:
        audits = [audit_exercise(found, forge, seed, tell) for found in exercises]
    finally:
        forge.close()
    _write(render_audits(audits, seed, texts), output, texts)
    return NOT_PASSED if any([*audit.broken()] for audit in audits) else PASSED


def _list(texts: Texts) -> str:
    lines = [texts("list.title")]
    for name in exercise_ids():
        found = load_exercise(name)
        inputs = ", ".join(found.contract.inputs)
        lines.append("  " + texts("list.entry", id=name, cases=len(found.cases), inputs=inputs))
    return "\n".join(lines) + "\n"


def _check_exercise(name: str) -> None:
    """Refuse what is no exercise: free files have a bank, but no stub and no model answer."""
    if name not in exercise_ids():
        raise UsageError("exercise.unknown", wanted=name, known=", ".join(exercise_ids()))


def _write_stub(name: str) -> Path:
    _check_exercise(name)
    path = Path(f"{stem_of(name)}.py")
    text = (folder("exercises") / path.name).read_text(encoding="utf-8")
    try:
        with open(path, "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise UsageError("file.exists", path=str(path)) from None
    except OSError as error:
        raise UsageError("file.not-created", path=str(path), detail=error.strerror) from None
    return path


def _write(text: str, output: Path | None, texts: Texts) -> None:
    if output is None:
        _print(text)
        return
    try:
        output.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise UsageError("file.unwritable", path=str(output), detail=error.strerror) from None
    print(clean(texts("written", path=output), MAX_LINE), file=sys.stderr)


def _print(text: str) -> None:
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        raise UsageError("file.unwritable", path="stdout", detail=error.strerror) from None


def _check_seed(seed: int | None) -> int:
    if seed is None:
        return int.from_bytes(os.urandom(4), "big")
    if not 0 <= seed <= MAX_SEED:
        raise UsageError("usage.seed", seed=seed)
    return seed


def _system_language() -> str:
    """The terminal's language if there are texts in it."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        value = os.environ.get(name)
        if value:
            return "zh" if value.lower().startswith("zh") else "en"
    return "en"


def _say(texts: Texts, message: Message) -> None:
    try:
        said = texts.say(message)
    except TextError:
        said = f"{message.key} {dict(message.fields)}"
    print(f"mha-grade: {clean(said, MAX_LINE)}", file=sys.stderr)


def _leave(code: int) -> NoReturn:
    """Flush and go at once: taking the interpreter down tidily costs time and changes nothing."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):
            stream.flush()
    os._exit(code)
