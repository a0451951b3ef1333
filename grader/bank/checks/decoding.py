"""A check on what a file makes of its own cache."""

from __future__ import annotations

from grader.bank.bench import Answer, Bench
from grader.bank.comparison import judge_answer
from grader.bank.findings import Finding, failed, trouble
from grader.calling.decoding import cache_of, decode
from grader.model import Case


def continues_from_its_cache(bench: Bench, case: Case) -> Finding:
    """The last token, given alone with the cache of those before it, gets what it gets with them.

    Whether the file is causal or not: the last token sees all.
    """
    slot, item = cache_of(bench.plan), bench.plan.cache
    assert slot is not None
    assert item is not None
    problem = bench.draw(case)
    calls = decode(bench.plan, item, problem.inputs[0], problem.sizes.scores, problem.dtype)
    seen = bench.run(bench.probe(problem, calls=calls))
    last = problem.of_queries([problem.sizes.q_len - 1])
    found = trouble(seen)
    if found is None:
        answer = Answer(bench.answer(seen, 1).output, None)
        found = judge_answer(bench, case, last, answer, named=False)
    if found.credit == 1.0:
        return found
    return failed("state.cache", name=slot.name, item=item, inner=found.message)
