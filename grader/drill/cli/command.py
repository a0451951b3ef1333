"""`mha-drill`: one command for each thing that can be done."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from grader.bank import exercise_ids
from grader.cli import console
from grader.cli.codes import INTERRUPTED, PASSED
from grader.drill.begin import Wish
from grader.drill.cli import acts, keeping
from grader.drill.cli.browser import Web
from grader.drill.kinds import KINDS
from grader.questions import FIRST_ROUND
from grader.reports.columns import wrap
from grader.sandbox.launch import Launched
from grader.texts import Texts

PROGRAM = "mha-drill"
app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)

Lang = Annotated[str | None, typer.Option(help="en or zh.")]
Which = Annotated[str | None, typer.Option("--drill", help="The drill, where several are open.")]
KindName = Annotated[str, typer.Option("--kind", help="implement, bugs, shapes or explain.")]
Exercise = Annotated[str | None, typer.Option(help="The exercise.")]
Random = Annotated[bool, typer.Option("--random", help="Any exercise.")]
DueOnly = Annotated[bool, typer.Option("--due", help="What is due by spaced repetition.")]
DueQuestions = Annotated[bool, typer.Option("--due", help="All that are due.")]
Minutes = Annotated[float | None, typer.Option(help="Minutes on the clock.")]
Folder = Annotated[Path | None, typer.Option(help="A new folder to work in.")]
Level = Annotated[str, typer.Option(help="first-round or senior.")]
Seed = Annotated[int | None, typer.Option(help="Repeat the drill that had this seed.")]
InBrowser = Annotated[bool, typer.Option("--web", help="In the browser: serve its page.")]
Port = Annotated[int | None, typer.Option(help="The port of the page.")]
Shown = Annotated[bool, typer.Option("--browser", help="Open the browser too; implies --web.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]
Target = Annotated[Path, typer.Argument(help="The file to write.")]


def run(launched: Launched | None) -> None:
    """Read the command line and act; `launched` is a zygote already on its way up."""
    console.open_streams()
    try:
        app(obj=launched)
    except KeyboardInterrupt:
        os._exit(INTERRUPTED)


def do(act: Callable[[Texts], int], lang: str | None) -> None:
    """Act, and leave with the exit code; where it fails, one sentence says why."""
    console.leave(console.attempt(act, lang, PROGRAM))


@app.callback(invoke_without_command=True, help="A mock interview about attention.")
def main(
    context: typer.Context,
    web: InBrowser = False,
    port: Port = None,
    browser: Shown = False,
    lang: Lang = None,
) -> None:
    """Without a command, serve the page if that is asked for, or say which commands there are."""
    if context.invoked_subcommand is None:
        page = Web(web or browser, port, browser)
        do(partial(acts.browse, page, context.obj) if page.wanted else show_usage, lang)


def show_usage(texts: Texts) -> int:
    """All that can be done."""
    known = {"kinds": "|".join(KINDS), "exercises": ", ".join(exercise_ids())}
    for line in texts("drill.usage", **known).split("\n"):
        indent = " " * (len(line) - len(line.lstrip()))
        console.tell(*wrap(line.lstrip(), indent, indent + "    "))
    return PASSED


@app.command(help="Begin a drill: write the file, start the clock, grade each save.")
def start(
    context: typer.Context,
    kind: KindName = "implement",
    exercise: Exercise = None,
    random: Random = False,
    due: DueOnly = False,
    minutes: Minutes = None,
    folder: Folder = None,
    level: Level = FIRST_ROUND,
    seed: Seed = None,
    web: InBrowser = False,
    port: Port = None,
    browser: Shown = False,
    lang: Lang = None,
) -> None:
    """Begin, and watch the file."""
    page = Web(web or browser, port, browser)
    wish = Wish(kind, exercise, random, minutes, folder, level, seed)
    do(partial(acts.start, wish, due, page, context.obj), lang)


@app.command(help="Go on watching the file of an open drill.")
def resume(
    context: typer.Context,
    drill: Which = None,
    web: InBrowser = False,
    port: Port = None,
    browser: Shown = False,
    lang: Lang = None,
) -> None:
    """Watch on."""
    page = Web(web or browser, port, browser)
    do(partial(acts.resume, drill, page, context.obj), lang)


@app.command(help="The clock, the score, the hints.")
def status(drill: Which = None, lang: Lang = None) -> None:
    """How it stands."""
    do(partial(acts.tell_status, drill), lang)


@app.command(help="One hint more.")
def hint(drill: Which = None, lang: Lang = None) -> None:
    """A hint, counted."""
    do(partial(acts.tell_hint, drill), lang)


@app.command(help="Close the drill: score, review, follow-up questions.")
def finish(drill: Which = None, lang: Lang = None) -> None:
    """The end of a drill."""
    do(partial(acts.finish, drill), lang)


@app.command(help="Go on with the follow-up questions.")
def ask(drill: Which = None, due: DueQuestions = False, lang: Lang = None) -> None:
    """The questions that are left, or due."""
    do(partial(acts.ask, drill, due), lang)


@app.command(help="Scores over time, mistakes made and mended.")
def history(lang: Lang = None) -> None:
    """The picture of all drills."""
    do(keeping.tell_history, lang)


@app.command("next", help="What to practise now.")
def next_(lang: Lang = None) -> None:
    """What is due."""
    do(keeping.tell_next, lang)


@app.command(help="Write everything that is kept of you into a new file, as JSON.")
def export(file: Target, lang: Lang = None) -> None:
    """All that is kept."""
    do(partial(keeping.export, file), lang)


@app.command(help="Forget everything that is kept of you.")
def delete(yes: Yes = False, lang: Lang = None) -> None:
    """Nothing is kept."""
    do(partial(keeping.delete, yes), lang)
