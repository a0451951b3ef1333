"""One submission to one report: the whole flow on a page."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from grader.bank import load_exercise
from grader.bank.bench import Bench
from grader.bank.explanation import weigh
from grader.bank.findings import describe_death, describe_raised
from grader.calling import choose_class, header_exercise, plan_exercise
from grader.choices import see
from grader.convention import (
    Convention,
    describe_convention,
    find_convention,
    match_exercise,
)
from grader.diagnosis import diagnose
from grader.errors import UnusableSubmission, UsageError
from grader.judging import judge_all
from grader.mistakes import name_mistakes, read_statements
from grader.model import (
    FREE,
    Exercise,
    Fault,
    Message,
    Outcome,
    Report,
    Status,
    Submission,
    Terms,
)
from grader.questions import choose
from grader.repro import Posed, pose_case
from grader.sandbox.forge import Forge
from grader.sandbox.level import CLOSED, PACKAGES
from grader.sandbox.session import Loaded, Session

# What is open to every file, wherever it is installed.
OPEN = {"torch", "grader", *PACKAGES, *sys.stdlib_module_names}

MAX_SEED = 2**63 - 1


@dataclass(frozen=True)
class Request:
    """What a user asked for beyond the file: None is "find out", `walked` the way of the shapes.

    `pictured` is what pictures are drawn from, which costs two more probes.
    `terms` are a course's own points and limits, and what may be imported beside the usual.
    """

    seed: int
    exercise: str | None = None
    class_name: str | None = None
    walked: bool = True
    pictured: bool = False
    terms: Terms = field(default_factory=Terms)

    def load(self, named: str) -> Exercise:
        """The exercise of this name on the terms that were asked for."""
        exercise = load_exercise(named)
        return exercise.on_terms(self.terms) if self.terms != Terms() else exercise


def choose_seed(wanted: int | None) -> int:
    """The seed asked for, or one drawn; raises UsageError for one that is out of range."""
    if wanted is None:
        return int.from_bytes(os.urandom(4), "big")
    if not 0 <= wanted <= MAX_SEED:
        raise UsageError("usage.seed", seed=wanted)
    return wanted


class Repro(NamedTuple):
    """One case as a single call, and the file's own order of axes."""

    posed: Posed
    axes: str


def grade(submission: Submission, forge: Forge, request: Request) -> Report:
    """Load, find out how to call it and which parameter is which, judge every case."""
    exercise = request.load(name_exercise(submission, request))
    return grade_in(_open_session(submission, forge, exercise), forge, request)


def _open_session(submission: Submission, forge: Forge, exercise: Exercise) -> Session:
    return Session(forge, submission, exercise.limits, exercise.packages, helpers=exercise.helpers)


def name_exercise(submission: Submission, request: Request) -> str:
    """The exercise asked for, or the one that the file names, or none."""
    return request.exercise or header_exercise(submission.source) or FREE


def grade_in(session: Session, forge: Forge, request: Request) -> Report:
    """The same in a session of the caller's own, which ends with it."""
    began = time.monotonic()
    submission = session.submission
    try:
        report = _grade(session, submission, request, name_exercise(submission, request))
    finally:
        session.close()
    return replace(
        report,
        environment=dict(forge.environment),
        isolation=session.isolation,
        printed=session.printed,
        flags=session.flags,
        seconds=time.monotonic() - began,
    )


def _grade(session: Session, submission: Submission, request: Request, named: str) -> Report:
    blank = Report(
        submission=submission,
        exercise=named,
        seed=request.seed,
        verdicts=(),
        areas={},
        convention=(),
        isolation=session.isolation,
        environment={},
        printed=session.printed,
        seconds=0.0,
    )
    loaded = session.load()
    if loaded.status is not Status.OK:
        return _picture(replace(blank, refusal=describe_failed_load(loaded)), request)
    try:
        convention = find(session, loaded, request, named)
    except UnusableSubmission as error:
        return _picture(replace(blank, refusal=error.message), request)
    exercise = request.load(named)
    bench = make_bench(convention, session, request)
    weigh(bench)
    convention = replace(convention, match=replace(convention.match, layout=bench.layout))
    judged = tuple(judge_all(exercise, bench))
    has_failed = any(verdict.outcome is Outcome.FAILED for verdict in judged)
    statements = read_statements(submission.source) if has_failed else ()
    verdicts = name_mistakes(exercise, bench.contract, judged, statements, bench.carried)
    report = replace(
        blank,
        bank=exercise.version,
        areas=exercise.areas,
        convention=(*describe_convention(convention, named == FREE), *bench.notes),
        verdicts=verdicts,
        diagnosis=diagnose(bench, exercise, verdicts, statements, request.walked),
    )
    asked = choose(tuple(see(report, bench)), request.seed)
    return _picture(replace(report, follow_ups=tuple(asked)), request, bench)


def _picture(report: Report, request: Request, bench: Bench | None = None) -> Report:
    """With what its pictures are made of, where they were asked for."""
    if not request.pictured:
        return report
    # Imported here: most runs need none of it.
    from grader.evidence import gather_evidence

    return replace(report, evidence=gather_evidence(report, bench))


def reproduce(
    submission: Submission,
    forge: Forge,
    request: Request,
    case: str,
    visibility: Mapping[str, str] | None = None,
) -> Repro:
    """What a script needs that shows one case; raises UsageError where there is none.

    `visibility` is a course's, by case, by area or "default": only what is visible is shown.
    """
    named = name_exercise(submission, request)
    exercise = request.load(named)
    session = _open_session(submission, forge, exercise)
    try:
        loaded = session.load()
        if loaded.status is not Status.OK:
            failed = describe_failed_load(loaded)
            raise UnusableSubmission(failed.key, **failed.fields)
        convention = find(session, loaded, request, named)
        bench = make_bench(convention, session, request)
        return Repro(pose_case(bench, exercise, case, visibility or {}), convention.plan.axes)
    finally:
        session.close()


def make_bench(convention: Convention, session: Session, request: Request) -> Bench:
    """The file on the bench, as it was found to be."""
    return Bench(
        convention.contract,
        convention.plan,
        session.run,
        convention.match.layout,
        request.seed,
        carried=list(convention.carried),
        source=session.submission.source,
    )


def find(session: Session, loaded: Loaded, request: Request, named: str) -> Convention:
    """How the file is called: as its exercise prescribes, or as it turns out."""
    cls = choose_class(loaded.classes, request.class_name)
    if named == FREE:
        source = session.submission.source
        return find_convention(cls, loaded.classes, session.run, request.seed, source)
    contract = load_exercise(named).contract
    plan = plan_exercise(cls, contract)
    match = match_exercise(contract, plan, session.run, request.seed)
    return Convention(plan, match, match.mistakes)


def _describe_import(fault: Fault) -> Message:
    missing = re.search(r"No module named '([A-Za-z_]\w*)", fault.text)
    if missing and missing[1] not in OPEN:
        return Message("load.no-package", {"name": missing[1], "line": fault.line})
    if missing and missing[1] in CLOSED:
        return Message("load.not-open", {"name": missing[1], "line": fault.line})
    if "relative import" in fault.text:
        return Message("load.relative", {"line": fault.line})
    return Message("load.import", {"type": fault.type, "text": fault.text, "line": fault.line})


def describe_failed_load(loaded: Loaded) -> Message:
    """The sentence for a file that could not be loaded."""
    fault = loaded.fault
    if loaded.status is Status.RAISED and fault is not None:
        if "SyntaxError" in fault.bases:
            # Its text ends with the place, which the sentence has already.
            text = re.sub(r" \([^()]*, line \d+\)$", "", fault.text)
            return Message("load.syntax", {"type": fault.type, "text": text, "line": fault.line})
        if "ImportError" in fault.bases:
            return _describe_import(fault)
        if fault.type == "EOFError":
            return Message("load.keyboard", {"line": fault.line})
        return describe_raised("load", fault)
    if loaded.status is Status.TIMED_OUT:
        return Message("load.timed-out", {"seconds": loaded.allowed_seconds})
    if loaded.status is Status.EXITED:
        return Message("load.exited", {"code": loaded.exit_code})
    if loaded.status is Status.DIED:
        return describe_death("load", loaded.exit_code)
    return Message("load.unreadable")
