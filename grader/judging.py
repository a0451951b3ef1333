"""A verdict for each case: what its check finds, unless a case that it builds on has failed."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from grader.bank.ahead import POSES, Ahead, Posed
from grader.bank.bench import Bench
from grader.bank.checks import CHECKS, FRESH, WEIGHTLESS
from grader.bank.findings import Finding
from grader.bank.offers import find_lacking
from grader.calling import NotOfferedError
from grader.errors import WorkerError
from grader.model import Case, Exercise, Message, Outcome, Verdict
from grader.variations import UNKNOWN


def judge_all(exercise: Exercise, bench: Bench) -> Iterable[Verdict]:
    """A verdict for every case, in the bank's order."""
    bench.ahead = look_ahead(exercise.cases, bench)
    done: dict[str, Verdict] = {}
    roots: dict[str, str] = {}
    for case in exercise.cases:
        blocked = next((done[roots[e]] for e in case.after if e in roots), None)
        verdict = done[case.id] = judge(case, bench, blocked)
        # A failure with a known cause is followed through, one that earned something is half right;
        # any other stops what builds on it.
        known = verdict.mistake or verdict.points
        if blocked or (verdict.outcome in (Outcome.FAILED, Outcome.ERROR) and not known):
            roots[case.id] = blocked.case if blocked else case.id
        yield verdict


def look_ahead(cases: Iterable[Case], bench: Bench) -> Ahead:
    """What those cases will ask that ask for one call."""
    posed: dict[str, Posed] = {}
    if bench.layout is None or bench.contract.positions == UNKNOWN:
        return Ahead()
    for case in cases:
        if case.check in POSES and not find_lacking(case.needs, bench.plan, bench.contract):
            with suppress(NotOfferedError):
                posed[case.id] = POSES[case.check](bench, case, **case.args)
    return Ahead(posed)


def judge(case: Case, bench: Bench, blocked: Verdict | None) -> Verdict:
    """Run one case's check, unless a case it builds on has failed.

    Where it failed through our own fault, so do the cases built on it.
    """
    lacking = find_lacking(case.needs, bench.plan, bench.contract)
    if lacking:
        return _verdict(case, Outcome.NOT_APPLICABLE, 0.0, Message(f"not-offered.{lacking}"))
    if blocked:
        outcome = Outcome.ERROR if blocked.outcome is Outcome.ERROR else Outcome.SKIPPED
        return _verdict(case, outcome, 0.0, Message("skipped.after", {"case": blocked.case}))
    if bench.contract.positions == UNKNOWN and case.check not in WEIGHTLESS:
        return _verdict(case, Outcome.NOT_APPLICABLE, 0.0, Message("not-offered.positions"))
    if bench.layout is None and case.check not in WEIGHTLESS:
        return _verdict(case, Outcome.SKIPPED, 0.0, Message("skipped.layout-unknown"))
    try:
        finding = examine(case, bench)
    except NotOfferedError as error:
        why = Message(f"not-offered.{error.what}", error.fields)
        return _verdict(case, Outcome.NOT_APPLICABLE, 0.0, why)
    except WorkerError as error:
        return _verdict(case, Outcome.ERROR, 0.0, error.message)
    except Exception as error:
        ours = Message("error.grader", {"type": type(error).__name__, "text": str(error)[:200]})
        return _verdict(case, Outcome.ERROR, 0.0, ours)
    outcome = Outcome.PASSED if finding.credit == 1.0 else Outcome.FAILED
    points = finding.credit * case.points
    return _verdict(case, outcome, points, finding.message, finding.mistake)


def examine(case: Case, bench: Bench) -> Finding:
    """What the case's check finds: on modules that are in use already, if that passes.

    If not, a trace of an earlier case may be to blame, and a fresh module has the last word; unless
    it is what a mistake makes of it that a fresh module had before.
    """
    carried = list(bench.carried)
    bench.fresh, bench.shared = case.check in FRESH, False
    finding = CHECKS[case.check](bench, case, **case.args)
    is_known = any(made.id == finding.mistake for made in carried)
    if finding.credit < 1.0 and bench.shared and not is_known:
        bench.carried[:] = carried
        bench.fresh = True
        finding = CHECKS[case.check](bench, case, **case.args)
    return finding


def _verdict(
    case: Case,
    outcome: Outcome,
    points: float,
    message: Message | None,
    mistake: str | None = None,
) -> Verdict:
    return Verdict(case.id, case.area, outcome, points, case.points, message, mistake)
