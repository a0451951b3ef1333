"""Every option of `mha-grade`, and what was asked for with them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from grader.course.options import Options
from grader.grading import Request, choose_seed
from grader.model import FREE
from grader.reports import View

Paths = Annotated[
    list[Path] | None,
    typer.Argument(help="The Python file to grade; or several, folders, a zip, a CSV of paths."),
]
Exercise = Annotated[str | None, typer.Option(help="The exercise it answers.")]
Free = Annotated[bool, typer.Option("--free", help="Judge it by its own convention.")]
ClassName = Annotated[str | None, typer.Option("--class", help="The class to grade.")]
Package = Annotated[list[str] | None, typer.Option(help="A further one that it may import.")]
Format = Annotated[
    str, typer.Option("--format", help="terminal, html, json, or what another system reads.")
]
Output = Annotated[Path | None, typer.Option(help="Write the report to this file.")]
Lang = Annotated[str | None, typer.Option(help="en or zh.")]
Seed = Annotated[int | None, typer.Option(help="Repeat the run that had this seed.")]
MinScore = Annotated[float | None, typer.Option(help="Exit with 0 from this score on.")]
Hints = Annotated[int | None, typer.Option(help="0 none, 1 nudge, 2 pointer, 3 fix.")]
Walk = Annotated[bool, typer.Option("--walk", help="Show the way of the shapes.")]
Repro = Annotated[str | None, typer.Option(help="Write a script that shows this case.")]
Answers = Annotated[bool, typer.Option("--answers", help="Show what to answer.")]

Results = Annotated[
    Path | None, typer.Option(help="Keep results in this file, and go on from there.")
]
Course = Annotated[Path | None, typer.Option(help="What the course has decided (YAML).")]
Keep = Annotated[str | None, typer.Option(help="Of a student's files: latest, best or all.")]
Jobs = Annotated[int | None, typer.Option(min=1, help="Files graded at once.")]
Shard = Annotated[str | None, typer.Option(help="Grade one part of several, such as 2/8.")]
Merge = Annotated[list[Path] | None, typer.Option(help="Take over results from this file.")]
Regrade = Annotated[bool, typer.Option("--regrade", help="Grade all again: who has moved?")]
Bank = Annotated[list[Path] | None, typer.Option(help="A bank of your own; repeatable.")]
Trust = Annotated[
    bool, typer.Option("--trust-these-files", help="Grade them where nothing shuts them in.")
]
Executor = Annotated[str, typer.Option(help="local, or dask for a cluster.")]
ForStudents = Annotated[
    bool, typer.Option("--for-students", help="Show only what the course lets students see.")
]
Feedback = Annotated[
    Path | None, typer.Option(help="Write each student's report into this folder.")
]
Canvas = Annotated[Path | None, typer.Option(help="Fill this gradebook export of Canvas.")]
Moodle = Annotated[Path | None, typer.Option(help="Fill this grading worksheet of Moodle.")]
Column = Annotated[str | None, typer.Option(help="The gradebook's column for the grades.")]
Similar = Annotated[bool, typer.Option("--similar", help="List files that are near-copies.")]
Packed = Annotated[str | None, typer.Option("--pack", help="Make a pack for a host.")]
Scheduler = Annotated[str | None, typer.Option(help="The address of a Dask scheduler.")]

List = Annotated[bool, typer.Option("--list", help="Name the exercises.")]
New = Annotated[str | None, typer.Option(help="Write an exercise's stub here.")]
Explain = Annotated[str | None, typer.Option(help="A mistake's page, or list.")]
CheckBank = Annotated[bool, typer.Option("--check-bank", help="Put known mistakes to the bank.")]
Doctor = Annotated[bool, typer.Option("--doctor", help="How safe is it here?")]
Version = Annotated[bool, typer.Option("--version", help="Print the version.")]


@dataclass(frozen=True)
class Asked:
    """The command line, read; a field for each option."""

    paths: list[Path] | None = None
    exercise: str | None = None
    free: bool = False
    class_name: str | None = None
    package: list[str] | None = None
    format_: str = "terminal"
    output: Path | None = None
    lang: str | None = None
    seed: int | None = None
    min_score: float | None = None
    hints: int | None = None
    walk: bool = False
    answers: bool = False
    repro: str | None = None
    results: Path | None = None
    course: Path | None = None
    keep: str | None = None
    jobs: int | None = None
    shard: str | None = None
    merge: list[Path] | None = field(default_factory=list)
    regrade: bool = False
    bank: list[Path] | None = None
    trust: bool = False
    executor: str = "local"
    scheduler: str | None = None
    for_students: bool = False
    feedback: Path | None = None
    canvas: Path | None = None
    moodle: Path | None = None
    column: str | None = None
    pack: str | None = None
    similar: bool = False
    list_: bool = False
    new: str | None = None
    explain: str | None = None
    check_bank: bool = False
    doctor: bool = False
    version: bool = False

    @property
    def chosen(self) -> str | None:
        """The exercise asked for; None is "find out"."""
        return FREE if self.free else self.exercise

    @property
    def is_pictured(self) -> bool:
        """True where a page with pictures is to be written."""
        return self.format_ == "html"

    def request(self) -> Request:
        """How one file is to be graded."""
        walked = self.walk or self.format_ != "terminal"
        seed = choose_seed(self.seed)
        return Request(seed, self.chosen, self.class_name, walked, self.is_pictured)

    def view(self) -> View:
        """What is to be seen of a report."""
        return View(View.hints if self.hints is None else self.hints, self.walk, self.answers)

    def options(self) -> Options:
        """How a course is to be graded."""
        return Options(
            seed=choose_seed(self.seed),
            results=self.results,
            course=self.course,
            exercise=self.chosen,
            class_name=self.class_name,
            keep=self.keep,
            shard=self.shard,
            merge=tuple(self.merge or ()),
            regrade=self.regrade,
            banks=tuple(self.bank or ()),
            packages=tuple(self.package or ()),
            trust=self.trust,
            jobs=self.jobs,
            executor=self.executor,
            scheduler=self.scheduler,
            min_score=self.min_score,
            pictured=self.is_pictured,
        )
