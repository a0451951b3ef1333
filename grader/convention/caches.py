"""Finds which item of what a file returns is the cache that it takes back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from grader.bank.bench import Bench, Run, agrees
from grader.calling.decoding import cache_of, decode
from grader.convention.found import Convention
from grader.mistakes import combine
from grader.model import Array, Status

MAX_ITEMS = 4


def find_cache(convention: Convention, run: Run, seed: int) -> Convention:
    """The convention with the place of the cache: what is right, else the first that is taken."""
    layout, contract, plan = convention.match.layout, convention.contract, convention.plan
    if layout is None or contract.positions or len(contract.inputs) > 1 or cache_of(plan) is None:
        return convention
    bench = Bench(contract, plan, run, layout, seed)
    problem = bench.draw("cache")
    steps = combine(convention.carried, problem.right)
    wanted = problem.expect(steps).output[:, -1:]
    taken = [(item, got) for item, got in _taken(bench) if got.shape == wanted.shape]
    right = [item for item, got in taken if agrees(got, wanted)]
    place = next(iter(right or [item for item, _ in taken]), None)
    return replace(convention, plan=replace(plan, cache=place))


def _taken(bench: Bench) -> Iterator[tuple[int, Array]]:
    """What comes of giving back each item that is neither the output nor the weights."""
    problem = bench.draw("cache")
    x, scores = problem.inputs[0], problem.sizes.scores
    calls = decode(bench.plan, 0, x, scores, problem.dtype)
    seen = bench.run(bench.probe(problem, calls=calls[:1]))
    if seen.status is not Status.OK:
        return
    others = [
        item
        for item, kind in enumerate(seen.returned[0].kinds)
        if kind != "none" and item not in (bench.plan.output, bench.plan.weights)
    ]
    for item in others[:MAX_ITEMS]:
        calls = decode(bench.plan, item, x, scores, problem.dtype)
        seen = bench.run(bench.probe(problem, calls=calls))
        output = bench.answer(seen, 1).output if seen.status is Status.OK else None
        if output is not None:
            yield item, output
