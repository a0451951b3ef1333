"""One submission to one report: the whole flow on a page."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, replace

from grader.bank import load_exercise
from grader.bank.bench import Bench, Finding, describe_death
from grader.bank.checks import CHECKS, FRESH, WEIGHTLESS
from grader.calling import CallPlan, choose_class, guess_exercise, header_exercise, plan_call
from grader.errors import UnusableSubmission, WorkerError
from grader.matching import Match, match_layout
from grader.model import (
    Case,
    Exercise,
    Limits,
    Message,
    Outcome,
    Report,
    Status,
    Submission,
    Verdict,
)
from grader.sandbox.forge import Forge
from grader.sandbox.session import Loaded, Session


@dataclass(frozen=True)
class Request:
    """What a user asked for beyond the file: None is "find out"."""

    seed: int
    exercise: str | None = None
    class_name: str | None = None


def grade(submission: Submission, forge: Forge, request: Request) -> Report:
    """Load, find out how to call it and which parameter is which, judge every case."""
    began = time.monotonic()
    named = request.exercise or header_exercise(submission.source)
    limits = load_exercise(named).limits if named else Limits()
    session = Session(forge, submission, limits)
    try:
        report = _grade(session, submission, request, named)
    finally:
        session.close()
    return replace(
        report,
        environment=dict(forge.environment),
        isolation=session.isolation,
        printed=session.printed,
        seconds=time.monotonic() - began,
    )


def _grade(session: Session, submission: Submission, request: Request, named: str | None) -> Report:
    blank = Report(
        submission=submission,
        exercise=named or "",
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
        return replace(blank, refusal=describe_failed_load(loaded))
    try:
        cls = choose_class(loaded.classes, request.class_name)
    except UnusableSubmission as error:
        return replace(blank, refusal=error.message)
    exercise = load_exercise(named or guess_exercise(cls, submission.source))
    session.limits = exercise.limits
    plan = plan_call(cls)
    match = match_layout(exercise.contract, plan, session.run, request.seed)
    carried = [match.mistake] if match.mistake else []
    bench = Bench(exercise.contract, plan, session.run, match.layout, request.seed, carried=carried)
    return replace(
        blank,
        exercise=exercise.id,
        bank=exercise.version,
        areas=exercise.areas,
        convention=tuple(describe_convention(plan, match, exercise, guessed=named is None)),
        verdicts=tuple(judge_all(exercise, bench)),
    )


def judge_all(exercise: Exercise, bench: Bench) -> Iterable[Verdict]:
    """A verdict for every case, in the bank's order."""
    done: dict[str, Verdict] = {}
    roots: dict[str, str] = {}
    for case in exercise.cases:
        blocked = next((done[roots[e]] for e in case.after if e in roots), None)
        verdict = done[case.id] = judge(case, bench, blocked)
        # A failure with a known cause is followed through; any other stops what builds on it.
        if blocked or (verdict.outcome in (Outcome.FAILED, Outcome.ERROR) and not verdict.mistake):
            roots[case.id] = blocked.case if blocked else case.id
        yield verdict


def judge(case: Case, bench: Bench, blocked: Verdict | None) -> Verdict:
    """Run one case's check, unless a case it builds on has failed.

    Where it failed through our own fault, so do the cases built on it.
    """
    if blocked:
        outcome = Outcome.ERROR if blocked.outcome is Outcome.ERROR else Outcome.SKIPPED
        return _verdict(case, outcome, 0.0, Message("skipped.after", {"case": blocked.case}))
    if bench.layout is None and case.check not in WEIGHTLESS:
        return _verdict(case, Outcome.SKIPPED, 0.0, Message("skipped.layout-unknown"))
    try:
        finding = examine(case, bench)
    except WorkerError as error:
        return _verdict(case, Outcome.ERROR, 0.0, error.message)
    except Exception as error:
        ours = Message("error.grader", {"type": type(error).__name__, "text": str(error)[:200]})
        return _verdict(case, Outcome.ERROR, 0.0, ours)
    outcome = Outcome.PASSED if finding.credit == 1.0 else Outcome.FAILED
    points = finding.credit * case.points
    return replace(_verdict(case, outcome, points, finding.message), mistake=finding.mistake)


def examine(case: Case, bench: Bench) -> Finding:
    """What the case's check finds: on modules that are in use already, if that passes.

    If not, a trace of an earlier case may be to blame, and a fresh module has the last word.
    """
    carried = list(bench.carried)
    bench.fresh, bench.shared = case.check in FRESH, False
    finding = CHECKS[case.check](bench, case, **case.args)
    if finding.credit < 1.0 and bench.shared:
        bench.carried[:] = carried
        bench.fresh = True
        finding = CHECKS[case.check](bench, case, **case.args)
    return finding


def _verdict(case: Case, outcome: Outcome, points: float, message: Message | None) -> Verdict:
    return Verdict(case.id, case.area, outcome, points, case.points, message)


def describe_failed_load(loaded: Loaded) -> Message:
    """The sentence for a file that could not be loaded."""
    fault = loaded.fault
    if loaded.status is Status.RAISED and fault is not None:
        fields = {"type": fault.type, "text": fault.text, "line": fault.line}
        if "SyntaxError" in fault.bases:
            return Message("load.syntax", fields)
        if "ImportError" in fault.bases:
            return Message("load.import", fields)
        if fault.type == "EOFError":
            return Message("load.keyboard", fields)
        return Message("load.raised", fields)
    if loaded.status is Status.TIMED_OUT:
        return Message("load.timed-out", {"seconds": loaded.allowed_seconds})
    if loaded.status is Status.EXITED:
        return Message("load.exited", {"code": loaded.exit_code})
    if loaded.status is Status.DIED:
        return describe_death("load", loaded.exit_code)
    return Message("load.unreadable")


def describe_convention(
    plan: CallPlan, match: Match, exercise: Exercise, guessed: bool
) -> Iterable[Message]:
    """What was chosen or found out, for the top of the report."""
    if guessed:
        yield Message("convention.guessed", {"exercise": exercise.id})
    yield Message("convention.class", {"name": plan.class_name, "line": plan.line})
    if match.layout is None:
        yield Message("convention.layout-unknown")
        return
    for name, place in match.layout.places.items():
        part = f" [{place.pattern}]" + (f", f = {place.slot}" if place.fused > 1 else "")
        yield Message("convention.place", {"name": name, "where": place.weight + part})
    if not match.proven:
        yield Message("convention.layout-assumed")
