"""Checks on the shapes and dtypes of what the module returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

from grader.bank.bench import Bench
from grader.bank.findings import PASSED, Finding, failed, letters, trouble
from grader.bank.problem import Problem
from grader.model import Array, Case, Status


def has_output_shape(
    bench: Bench, case: Case, sizes: Mapping[str, int] | None = None, crossed: bool = False
) -> Finding:
    """The first thing returned is a tensor of the query's shape, [b, q, m].

    `crossed` asks for two lengths even of a file that was found to have room for one.
    """
    problem = bench.draw(case, sizes, crossed)
    seen = bench.run(bench.probe(problem))
    found = trouble(seen)
    if found is not None:
        return _at_equal_lengths(bench, case, problem) or found
    output = bench.answer(seen).output
    if output is None:
        return failed("shape.no-output", got=", ".join(seen.returned[0].kinds) or "()")
    return _same_shape("output", output, problem.inputs[0])


def _at_equal_lengths(bench: Bench, case: Case, problem: Problem) -> Finding | None:
    """What to say of a module that runs only with as many queries as keys."""
    sizes = problem.sizes
    if len(bench.contract.inputs) == 1 or sizes.q_len == sizes.kv_len:
        return None
    trial = bench.draw(case, {**asdict(sizes), "kv_len": sizes.q_len})
    if bench.run(bench.probe(trial)).status is not Status.OK:
        return None
    found = trouble(bench.run(bench.probe(problem)))
    if found is None or found.message is None:
        return None
    lengths = {"q_len": sizes.q_len, "kv_len": sizes.kv_len}
    line = found.message.fields.get("line")
    said = failed("shape.lengths", **lengths, inner=found.message, line=line)
    # All else can be judged with one length.
    return said._replace(mistake="wrong-cross-length")


def returns_weights(bench: Bench, case: Case) -> Finding:
    """(output, weights) and no more, the weights [b, h, q, k], one set for each head."""
    problem = bench.draw(case)
    seen = bench.run(bench.probe(problem))
    found = trouble(seen)
    if found is not None:
        return found
    returned = seen.returned[0]
    pair = returned.structure in ("tuple", "list") and len(returned.kinds) == 2
    if not pair or 1 not in returned.tensors:
        got = ", ".join(returned.kinds)
        return failed("shape.not-a-pair", got=f"({got})" if returned.structure != "single" else got)
    return _same_shape("weights", returned.tensors[1], problem.truth.weights)


def _same_shape(what: str, got: Array, expected: Array) -> Finding:
    if got.shape == expected.shape:
        return PASSED
    fields = {"got": letters(got.shape), "expected": letters(expected.shape)}
    return failed("shape.differs", what=what, **fields)


def projects_output(bench: Bench, case: Case) -> Finding:
    """Besides q, k and v there is a projection left over for the output."""
    if bench.layout is not None and "Wo" not in bench.layout.places:
        return failed("shape.no-output-projection")
    return PASSED


def keeps_dtype(bench: Bench, case: Case, dtype: str) -> Finding:
    """A module of one dtype returns that dtype."""
    problem = bench.draw(case, dtype=dtype)
    seen = bench.run(bench.probe(problem))
    found = trouble(seen)
    if found is not None:
        return found
    got = seen.returned[0].dtypes.get(bench.plan.output, "nothing")
    return PASSED if got == dtype else failed("dtype.differs", got=got, expected=dtype)
