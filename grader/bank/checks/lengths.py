"""Checks on sequences so long that working out every row would take as long as many cases."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from grader.bank.bench import Answer, Bench
from grader.bank.checks.values import compare, judge_answer
from grader.bank.findings import Finding, trouble
from grader.model import Case


def matches_in_some_rows(
    bench: Bench,
    case: Case,
    sizes: Mapping[str, int],
    rows: int,
    mask: Mapping[str, str] | None = None,
    dtype: str = "float64",
) -> Finding:
    """As `matches_reference` for the output of some queries, among them the first and the last.

    For long sequences, where working out all rows would take as long as many other cases. A
    mistake made elsewhere may make the rows depend on each other: then all of them are looked at.
    """
    problem = bench.draw(case, sizes, mask=mask, dtype=dtype)
    seen = bench.run(bench.probe(problem, output_only=True))
    found = trouble(seen)
    if found is not None:
        return found
    output = bench.answer(seen).output
    whole = output is None or output.shape != problem.inputs[0].shape
    # Positions inside, and padded queries, are of the sequence as a whole.
    joined = bench.contract.positions or bench.contract.padded
    if output is None or whole or joined or are_joined(bench, case, mask):
        return compare(bench, case, problem, seen)
    last = problem.sizes.q_len - 1
    within = bench.rng(f"{case.id} rows").choice(np.arange(1, last), rows - 2, replace=False)
    some = [0, *sorted(int(row) for row in within), last]
    return judge_answer(bench, case, problem.of_queries(some), Answer(output[:, some], None))


def are_joined(bench: Bench, case: Case, mask: Mapping[str, str] | None) -> bool:
    """True where, by the mistakes made, what some queries get depends on the others.

    Seen in a short sequence, whose rows are worked out with the others and without them.
    """
    if not bench.carried:
        return False
    steps = bench.steps(bench.carried)
    short = bench.draw(case, mask=mask)
    some = [0, short.sizes.q_len - 1]
    apart, together = short.of_queries(some).expect(steps), short.expect(steps)
    return not np.allclose(apart.output, together.output[:, some], equal_nan=True)
