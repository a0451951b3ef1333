"""Checks on modules that are called with parameters given by name, as torch.func does."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace

from grader.bank.bench import Bench, agrees
from grader.bank.checks.copies import PROBLEM, excuse, raised_in
from grader.bank.comparison import compare
from grader.bank.findings import Finding, failed, trouble
from grader.bank.problem import Problem
from grader.calling import NotOfferedError
from grader.layout.places import BIASES
from grader.model import Case, Observation

# What weights are multiplied by to be other ones.
FACTOR = -0.5
# Its kernels take a quarter of a second to import.
NAMED = re.compile(r"\b(vmap|functorch|torch\.func)\b")


def takes_weights_by_name(bench: Bench, case: Case) -> Finding:
    """torch.func.functional_call with other weights gives what these give; so does vmap over them.

    vmap, of two models at once, is tried where the file itself names it or what it belongs to. A
    file that cannot be called so is excused, and so is one that reads parameters past their names,
    through a list made in the constructor or a copy of its own: it goes on with those it had.
    """
    problem = bench.draw(PROBLEM)
    seen = _call(bench, problem, "functional-call")
    excuse(seen, "functional-call")
    found = trouble(seen)
    if found is not None:
        return found
    other = _give(problem, _known(bench))
    found = compare(bench, case, other, seen, 1, named=False)
    if found.credit == 1.0:
        return _at_once(bench, case, problem, other) or found
    before = compare(bench, case, problem, seen)
    if before.credit < 1.0:
        return before
    if _goes_on(bench, case, problem, seen):
        raise NotOfferedError("by-name")
    return failed("state.by-name-differs")


def _goes_on(bench: Bench, case: Case, problem: Problem, seen: Observation) -> bool:
    """True where the answer is that of some projections as they were, and others as given."""
    got, known = bench.answer(seen, 1).output, _known(bench)
    sizes = range(len(known))
    mixed = itertools.chain.from_iterable(itertools.combinations(known, n) for n in sizes)
    return got is not None and any(
        agrees(got, bench.expect(case, _give(problem, given)).output) for given in mixed
    )


def _at_once(bench: Bench, case: Case, problem: Problem, other: Problem) -> Finding | None:
    """What is wrong under vmap, where it is offered and does not raise."""
    if not NAMED.search(bench.source):
        return None
    seen = _call(bench, problem, "vmap")
    if raised_in(seen, "vmap"):
        return None
    found = trouble(seen)
    if found is None and compare(bench, case, other, seen, 1, named=False).credit < 1.0:
        return failed("state.vmap-differs")
    return found


def _call(bench: Bench, problem: Problem, kind: str) -> Observation:
    calls = (bench.call(problem),) * 2
    return bench.run(bench.probe(problem, calls=calls, between=kind, factor=FACTOR))


def _give(problem: Problem, names: tuple[str, ...]) -> Problem:
    """The same with the other weights that the worker passes, for these projections."""
    weights = problem.weights

    def make() -> Problem:
        given = {n: FACTOR * w for n in names if (w := getattr(weights, n)) is not None}
        return replace(problem, weights=replace(weights, **given))

    return problem.once(("given", *names), make)


def _known(bench: Bench) -> tuple[str, ...]:
    """The canonical names of what lies in parameters."""
    places = bench.layout.places if bench.layout else {}
    found = ((name, BIASES[name] if place.bias else "") for name, place in places.items())
    return tuple(name for name in itertools.chain(*found) if name)
