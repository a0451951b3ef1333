"""From verdicts to what a candidate needs: each mistake with its line, the way of the shapes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from grader.bank.bench import Bench
from grader.bank.draw import Problem
from grader.calling import NotOfferedError
from grader.model import (
    Case,
    Departure,
    Diagnosis,
    Exercise,
    NamedMistake,
    Observation,
    Outcome,
    Status,
    Stride,
    Verdict,
)
from grader.trace import find_departure, find_not_finite, walk

# Checks that compare the values of one problem, which can be traced as it stands.
TRACED = ("matches_reference", "handles_dead_rows", "accepts_none_mask", "ignores_hidden")
MAX_TRACES = 6
LARGEST = 4000


def diagnose(
    bench: Bench, exercise: Exercise, verdicts: Sequence[Verdict], walked: bool = True
) -> Diagnosis:
    """Each mistake with its line and cases, the costliest first; and the walk, if asked for."""
    tracer = Tracer(bench, exercise)
    groups: dict[str | None, list[Verdict]] = {}
    for verdict in verdicts:
        if verdict.outcome is Outcome.FAILED:
            groups.setdefault(verdict.mistake, []).append(verdict)
    findings, departures = [], []
    for mistake, group in sorted(groups.items(), key=lambda item: -_cost(item[1])):
        plain_first = sorted(group, key=lambda v: "sizes" in tracer.cases[v.case].args)
        departure = next((d for v in plain_first if (d := tracer.look(v))), None)
        line = departure.line if departure else _said_line(group)
        if departure:
            departures.append(departure)
        if mistake is not None:
            findings.append(NamedMistake(mistake, line, tuple(v.case for v in group)))
    return Diagnosis(tuple(findings), tuple(departures), tuple(tracer.walk()) if walked else ())


def _cost(group: Sequence[Verdict]) -> float:
    return sum(verdict.max_points - verdict.points for verdict in group)


def _said_line(group: Sequence[Verdict]) -> int | None:
    lines = [v.message.fields.get("line") for v in group if v.message]
    return next((int(line) for line in lines if line), None)


class Tracer:
    """Traces the cases that failed, a few at most."""

    def __init__(self, bench: Bench, exercise: Exercise) -> None:
        self.bench = bench
        self.cases = {case.id: case for case in exercise.cases}
        self.left = MAX_TRACES
        self.sequences = len(bench.contract.inputs)

    def look(self, verdict: Verdict) -> Departure | None:
        """Where the file departs in the case of this verdict."""
        case = self.cases[verdict.case]
        if case.check not in TRACED or self.bench.layout is None or not self.left:
            return None
        problem = self._pose(case)
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
            # What other areas pay for is no departure here: a second mistake has its own line.
            meant = self.bench.steps(self.bench.charged_elsewhere(case))
            problem = replace(problem, right=meant)
            found = find_departure(seen.trace, problem, self.sequences, answer.output)
        return found and replace(found, case=case.id)

    def walk(self) -> Iterable[Stride]:
        """The shapes of one plain pass."""
        if self.bench.layout is None:
            return ()
        problem = self.bench.draw("walk")
        seen = self._run(problem)
        return walk(seen.trace, problem, self.sequences) if seen.status is Status.OK else ()

    def _pose(self, case: Case) -> Problem | None:
        """The very problem of the case, where it is small enough to be traced."""
        options = {key: case.args[key] for key in ("mask", "gain") if key in case.args}
        problem = self.bench.draw(case, case.args.get("sizes"), **options)
        return problem if problem.truth.raw.size + problem.truth.output.size < LARGEST else None

    def _run(self, problem: Problem) -> Observation:
        try:
            return self.bench.run(self.bench.probe(problem, trace=True))
        except NotOfferedError:
            return Observation(Status.UNREADABLE)
