"""`mha-grade`: what was asked for, done; every failure becomes one sentence and an exit code."""

from __future__ import annotations

import os
from dataclasses import fields
from functools import partial

import typer

from grader import __version__
from grader.bank import use_banks
from grader.cli import console, options, stubs
from grader.cli.codes import INTERRUPTED, PASSED
from grader.cli.options import Asked
from grader.course.options import is_course
from grader.errors import UsageError
from grader.grading import choose_seed
from grader.reports.as_page import render_index, render_page
from grader.sandbox.launch import Launched
from grader.texts import Texts, load_texts

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


def run(launched: Launched | None) -> None:
    """Read the command line and act; `launched` is a zygote already on its way up."""
    console.open_streams()
    try:
        app(obj=launched)
    except KeyboardInterrupt:
        os._exit(INTERRUPTED)


@app.command(help="Grade multi-head attention: one file, or all that a course hands in.")
def main(
    context: typer.Context,
    paths: options.Paths = None,
    exercise: options.Exercise = None,
    free: options.Free = False,
    class_name: options.ClassName = None,
    package: options.Package = None,
    format_: options.Format = "terminal",
    output: options.Output = None,
    lang: options.Lang = None,
    seed: options.Seed = None,
    min_score: options.MinScore = None,
    hints: options.Hints = None,
    walk: options.Walk = False,
    answers: options.Answers = False,
    repro: options.Repro = None,
    results: options.Results = None,
    course: options.Course = None,
    keep: options.Keep = None,
    jobs: options.Jobs = None,
    shard: options.Shard = None,
    merge: options.Merge = None,
    regrade: options.Regrade = False,
    bank: options.Bank = None,
    trust: options.Trust = False,
    executor: options.Executor = "local",
    scheduler: options.Scheduler = None,
    for_students: options.ForStudents = False,
    feedback: options.Feedback = None,
    canvas: options.Canvas = None,
    moodle: options.Moodle = None,
    column: options.Column = None,
    pack: options.Packed = None,
    similar: options.Similar = False,
    list_: options.List = False,
    new: options.New = None,
    explain: options.Explain = None,
    check_bank: options.CheckBank = False,
    doctor: options.Doctor = False,
    version: options.Version = False,
) -> None:
    """Read every option into one object, and do what it asks for."""
    given = locals()
    asked = Asked(**{one.name: given[one.name] for one in fields(Asked)})
    console.leave(console.attempt(partial(act, asked, context.obj), asked.lang, "mha-grade"))


def act(asked: Asked, launched: Launched | None, texts: Texts) -> int:
    """Do the one thing that was asked for; what is rarely needed is imported where it is."""
    if asked.bank:
        use_banks(asked.bank)
        texts = load_texts(texts.language)
    if asked.version:
        console.show(f"mha-grade {__version__}\n")
    elif asked.list_:
        console.show(stubs.list_exercises(texts))
    elif asked.explain is not None:
        is_index = asked.explain == "list"
        console.show(render_index(texts) if is_index else render_page(asked.explain, texts))
    elif asked.new is not None:
        console.show(texts("new.written", path=stubs.write_stub(asked.new)) + "\n")
    elif asked.check_bank:
        from grader.cli.audit import check_bank

        return check_bank(asked.exercise, choose_seed(asked.seed), asked.output, texts)
    elif asked.doctor:
        from grader.cli.doctor import tell_level

        return tell_level(texts)
    elif asked.pack is not None:
        from grader.cli.exports import write_pack

        write_pack(asked, texts)
    elif asked.merge or len(asked.paths or ()) > 1 or any(map(is_course, asked.paths or ())):
        from grader.cli.many import grade_many

        return grade_many(asked, texts)
    elif not asked.paths:
        raise UsageError("usage.no-file")
    else:
        from grader.cli.single import grade_file

        return grade_file(asked, launched, texts)
    return PASSED
