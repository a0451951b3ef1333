"""Checks on sequences so long that working out every row would take as long as many cases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from grader.bank.bench import Answer, Bench
from grader.bank.comparison import compare, judge_answer
from grader.bank.findings import Finding, failed, trouble
from grader.bank.problem import Problem
from grader.calling import NotOfferedError
from grader.model import Case, Observation, Status
from grader.variations import LEANS

# An angle grows with the position, and so does what rounding it to float32 makes of it.
FLOAT32 = 2.0**-24


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
    return trouble(seen) or _compare_rows(bench, case, problem, seen, rows, mask)


def keeps_its_default_length(
    bench: Bench, case: Case, sizes: Mapping[str, int], rows: int
) -> Finding:
    """The same where a length of the constructor is left as it is: that of a block, say.

    A file that refuses what is longer is excused, or answers it in part; and so is one in which
    the last query does not see the first token, as where the length is that of a window.
    """
    plan = bench.plan.with_default_length()
    bench = replace(bench, plan=plan, carried=list(bench.carried))
    problem = bench.draw(case, sizes)
    moved = tuple(np.concatenate([x[:, :1] + 1.0, x[:, 1:]], axis=1) for x in problem.inputs)
    calls = bench.call(problem), bench.call(replace(problem, inputs=moved))
    seen = bench.run(bench.probe(problem, calls=calls, output_only=True))
    if seen.status is Status.RAISED:
        raise NotOfferedError("default-length")
    found = trouble(seen)
    if found is not None:
        return found
    first, second = (bench.answer(seen, call).output for call in range(2))
    if first is None or second is None or first.shape != problem.inputs[0].shape:
        raise NotOfferedError("default-length")
    if np.array_equal(first[:, -1], second[:, -1]):
        raise NotOfferedError("default-length")
    found = _compare_rows(bench, case, problem, seen, rows)
    if found.credit == 1.0 or found.message is None:
        return found
    return failed("shape.default-length", inner=found.message)


def _compare_rows(
    bench: Bench,
    case: Case,
    problem: Problem,
    seen: Observation,
    rows: int,
    mask: Mapping[str, str] | None = None,
) -> Finding:
    output = bench.answer(seen).output
    whole = output is None or output.shape != problem.inputs[0].shape
    # Slopes, and padded queries, are of the sequence as a whole.
    joined = bench.contract.positions in LEANS or bench.contract.padded
    slack = FLOAT32 * problem.sizes.kv_len if bench.contract.positions else 0.0
    if output is None or whole or joined or are_joined(bench, case, mask):
        return compare(bench, case, problem, seen, slack=slack)
    last = problem.sizes.q_len - 1
    within = bench.rng(f"{case.id} rows").choice(np.arange(1, last), rows - 2, replace=False)
    some = [0, *sorted(int(row) for row in within), last]
    answer = Answer(output[:, some], None)
    return judge_answer(bench, case, problem.of_queries(some), answer, slack)


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
