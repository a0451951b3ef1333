"""From verdicts to what a candidate needs: each mistake with its line, the way of the shapes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from grader.bank.bench import Bench
from grader.bank.problem import Problem
from grader.calling import NotOfferedError
from grader.mistakes import CATALOGUE, SURE, Statement, point
from grader.model import (
    Case,
    Departure,
    Diagnosis,
    Exercise,
    Message,
    NamedMistake,
    Observation,
    Outcome,
    Status,
    Stride,
    Verdict,
)
from grader.trace import find_departure, find_not_finite, walk

# Checks that compare the values of one problem, which can be traced as it stands.
TRACED = (
    "matches_reference",
    "handles_dead_rows",
    "accepts_none_mask",
    "ignores_hidden",
    "ignores_future",
    "first_query_sees_itself",
    "takes_mask_forms",
)
MAX_TRACES = 8
# Of one mistake.
FEW_TRACES = 3
# Other mistakes are what comes of these.
ROOTS = ("not-filled-in", "ready-made-attention")
LARGEST = 4000
# A function within a function, on one line.
HELPER = re.compile(r"(\w+) = lambda")


def diagnose(
    bench: Bench,
    exercise: Exercise,
    verdicts: Sequence[Verdict],
    statements: Sequence[Statement] = (),
    walked: bool = True,
) -> Diagnosis:
    """Each mistake with its line and cases, the costliest first; and the walk, if asked for."""
    tracer = Tracer(bench, exercise)
    findings, departures = [], []
    for mistake, group in sorted(_group(bench, verdicts).items(), key=_rank):
        plain_first = sorted(group, key=lambda v: tracer.effort(v, mistake))
        departure = _outside(tracer.search(plain_first, mistake), statements)
        line = departure.line if departure else _said_line(group)
        if mistake in SURE:
            line = point(mistake, group, statements) or line
        if departure and departure not in departures:
            departures.append(departure)
        if mistake is not None:
            line = line or point(mistake, group, statements) or tracer.missing(mistake)
            others = bench.alternatives.get(mistake, ())
            cases = tuple(v.case for v in group)
            findings.append(NamedMistake(mistake, line, cases, others))
    return Diagnosis(tuple(findings), tuple(departures), tuple(tracer.walk()) if walked else ())


def _group(bench: Bench, verdicts: Sequence[Verdict]) -> dict[str | None, list[Verdict]]:
    """What failed, by its mistake; of two made at once, each with all that both cost."""
    groups: dict[str | None, list[Verdict]] = {}
    failed = [verdict for verdict in verdicts if verdict.outcome is Outcome.FAILED]
    for verdict in failed:
        groups.setdefault(verdict.mistake, []).append(verdict)
    known = {mistake.id for mistake in bench.carried}
    for mistake in bench.carried:
        shared = [v for v in failed if v.mistake in known and v.area in mistake.areas]
        own = groups.get(mistake.id, [])
        if shared and not any(v.area in mistake.areas for v in own):
            groups[mistake.id] = shared + own
    return groups


def _rank(item: tuple[str | None, list[Verdict]]) -> tuple[bool, float]:
    """What explains other mistakes first, then by cost."""
    return item[0] not in ROOTS, -_cost(item[1])


def _cost(group: Sequence[Verdict]) -> float:
    return sum(verdict.max_points - verdict.points for verdict in group)


def _outside(departure: Departure | None, statements: Sequence[Statement]) -> Departure | None:
    """Of a wrong operand that a helper made, as it makes others: the call that asked for it."""
    fields = departure.message.fields if departure else {}
    if departure is None or "made" not in fields or "got" not in fields:
        return departure
    made, taken = (
        next((one for one in reversed(statements) if one.line <= line), None)
        for line in (fields["made"], fields["line"])
    )
    if made is None or taken is None:
        return departure
    named = HELPER.match(made.text)
    helper = named[1] if named else made.function if made.function != taken.function else None
    if helper is None:
        return departure
    calls = [s.line for s in statements if s.function == taken.function and f"{helper}(" in s.text]
    line = max((at for at in calls if at <= taken.line), default=taken.line)
    message = replace(departure.message, fields={**fields, "made": line})
    return replace(departure, line=line, message=message)


def _said_line(group: Sequence[Verdict]) -> int | None:
    messages = [v.message for v in group if v.message]
    inner = [m.fields.get("inner") for m in messages]
    messages += [m for m in inner if isinstance(m, Message)]
    return next((int(m.fields["line"]) for m in messages if m.fields.get("line")), None)


class Tracer:
    """Traces the cases that failed, a few at most."""

    def __init__(self, bench: Bench, exercise: Exercise) -> None:
        self.bench = bench
        self.cases = {case.id: case for case in exercise.cases}
        self.left = MAX_TRACES
        self.sequences = len(bench.contract.inputs)

    def effort(self, verdict: Verdict, mistake: str | None) -> tuple[bool, bool]:
        """How much stands between this case and a plain look at the mistake."""
        args = self.cases[verdict.case].args
        known = CATALOGUE.get(mistake or "")
        masked = known is not None and known.is_structural and "mask" in args
        return masked, "sizes" in args

    def search(self, group: Sequence[Verdict], mistake: str | None) -> Departure | None:
        """The first departure in these cases; where one raised there is nothing to look at."""
        quiet = [v for v in group if v.message and not v.message.key.startswith("trouble.")]
        seen = [v for v in quiet if self.cases[v.case].check in TRACED][:FEW_TRACES]
        return next((d for v in seen if (d := self.look(v, mistake))), None)

    def look(self, verdict: Verdict, mistake: str | None) -> Departure | None:
        """Where the file departs in the case of this verdict, by this mistake."""
        case = self.cases[verdict.case]
        if self.bench.layout is None or not self.left:
            return None
        problem = self._pose(case, verdict)
        if problem is None:
            return None
        self.left -= 1
        dtype = str(case.args.get("dtype", "float64"))
        seen = self._run(replace(problem, dtype=dtype))
        if seen.status is not Status.OK:
            return None
        answer = self.bench.answer(seen)
        found = find_not_finite(seen.trace, answer)
        if found is None and dtype == "float64":
            # Other mistakes are no departure here: each has a line of its own.
            others = [made for made in self.bench.carried if made.id != mistake]
            meant = self.bench.steps(others)
            problem = replace(problem, right=meant)
            found = find_departure(seen.trace, problem, self.sequences, answer.output)
        return found and replace(found, case=case.id)

    def missing(self, mistake: str) -> int | None:
        """The line that should have used what was left out."""
        if mistake != "dropout-never-applied" or self.bench.layout is None:
            return None
        made = self.bench.steps(self.bench.carried)
        strides = self._walk(replace(self.bench.draw("walk"), right=made))
        return next((stride.line for stride in strides if stride.what == "context"), None)

    def walk(self) -> Sequence[Stride]:
        """The shapes of one plain pass; with weights of the file's own if others have no place."""
        return self._walk(self.bench.draw("walk"))

    def _walk(self, problem: Problem) -> Sequence[Stride]:
        seen = self._run(problem)
        return walk(seen.trace, problem, self.sequences) if seen.status is Status.OK else ()

    def _pose(self, case: Case, verdict: Verdict) -> Problem | None:
        """The very problem of the case, where it is small enough to be traced."""
        options = {key: case.args[key] for key in ("mask", "gain") if key in case.args}
        problem = self.bench.draw(case, case.args.get("sizes"), **options)
        if verdict.message and verdict.message.key == "mask.form":
            form = str(verdict.message.fields["axes"])
            problem = self.bench.remask(case, problem, "random", form)
        return problem if problem.truth.raw.size + problem.truth.output.size < LARGEST else None

    def _run(self, problem: Problem) -> Observation:
        pose = self.bench.unloaded if self.bench.layout is None else self.bench.probe
        try:
            return self.bench.run(pose(problem)._replace(trace=True))
        except NotOfferedError:
            return Observation(Status.UNREADABLE)
