"""Checks on modules that are called with parameters given by name, as torch.func does."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import replace

from grader.bank.bench import Bench
from grader.bank.checks.copies import PROBLEM, excuse, raised_in
from grader.bank.checks.values import compare
from grader.bank.draw import Problem
from grader.bank.findings import Finding, failed, trouble
from grader.calling import NotOfferedError
from grader.layout.places import BIASES
from grader.model import Case, Observation
from grader.worker.protocol import SPOILT

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
    found, known = trouble(seen), _known(bench)
    if found is not None:
        return found
    found = _answers(bench, case, problem, known, seen)
    if found.credit == 1.0:
        return _at_once(bench, case, problem, known) or found
    before = compare(bench, case, problem, seen)
    if before.credit < 1.0:
        return before
    # Some of the parameters as they were, the others as they are given.
    if any(_answers(bench, case, problem, s, seen).credit == 1.0 for s in _subsets(known)):
        raise NotOfferedError("by-name")
    return failed("state.by-name-differs")


def _at_once(bench: Bench, case: Case, problem: Problem, known: tuple[str, ...]) -> Finding | None:
    """What is wrong under vmap, where it is offered and does not raise."""
    if not NAMED.search(bench.source):
        return None
    seen = _call(bench, problem, "vmap")
    if raised_in(seen, "vmap"):
        return None
    found = trouble(seen)
    if found is None and _answers(bench, case, problem, known, seen).credit < 1.0:
        return failed("state.vmap-differs")
    return found


def _call(bench: Bench, problem: Problem, kind: str) -> Observation:
    calls = (bench.call(problem),) * 2
    return bench.run(bench.probe(problem, calls=calls, between=kind))


def _answers(
    bench: Bench, case: Case, problem: Problem, given: tuple[str, ...], seen: Observation
) -> Finding:
    """The second answer against the definition, with other weights for these projections."""
    weights = problem.weights
    other = {n: SPOILT * w for n in given if (w := getattr(weights, n)) is not None}
    changed = replace(problem, weights=replace(weights, **other))
    return compare(bench, case, changed, seen, 1, named=False)


def _known(bench: Bench) -> tuple[str, ...]:
    """The canonical names of what lies in parameters."""
    places = bench.layout.places if bench.layout else {}
    found = ((name, BIASES[name] if place.bias else "") for name, place in places.items())
    return tuple(name for name in itertools.chain(*found) if name)


def _subsets(names: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    sizes = range(len(names))
    return itertools.chain.from_iterable(itertools.combinations(names, n) for n in sizes)
