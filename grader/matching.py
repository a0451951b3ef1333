"""Finds the layout of a module's parameters by trying proposals against what it returned."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from grader.bank.bench import Run, agrees
from grader.bank.draw import BIAS, GAIN, Problem, draw, generator
from grader.bank.masks import Sizes
from grader.calling import CallPlan
from grader.definition import CORRECT, Steps
from grader.layout import Layout, named_layout, propose
from grader.mistakes import Mistake, combine, known_for
from grader.model import Array, Contract, Input, Parameter, Probe, Status

SIZES = Sizes()
LIKELIEST = 24


@dataclass(frozen=True)
class Match:
    """A layout, whether behaviour proved it, and the mistake under which it did."""

    layout: Layout | None
    proven: bool = False
    mistake: Mistake | None = None


@dataclass(frozen=True)
class Trial:
    """What the module returned for one draw of its parameters."""

    theta: dict[str, Array]
    problem: Problem
    output: Array

    def shows(self, layout: Layout, steps: Steps) -> bool:
        """True when the definition, read through `layout`, returns the same."""
        weights = layout.read(self.theta, self.problem.sizes.num_heads)
        problem = Problem(
            self.problem.sizes, "float64", weights, self.problem.inputs, None, self.problem.visible
        )
        return agrees(self.output, problem.expect(steps).output)


def match_layout(contract: Contract, plan: CallPlan, run: Run, seed: int) -> Match:
    """Propose on one draw of the parameters, confirm on a second.

    A proposal counts when the definition agrees with the module, as it should be or with one
    known mistake made; failing that, when the names alone settle it.
    """
    built = run(_first_look(contract, plan))
    if not built.parameters:
        return Match(None)
    proposals = propose(built.parameters, SIZES.d_model, SIZES.num_heads)
    trials = [_try(contract, plan, run, built.parameters, seed, n) for n in range(2)]
    first, second = trials
    if first is not None and second is not None:
        for layout, steps, mistake in _hypotheses(proposals, contract):
            if first.shows(layout, steps) and second.shows(layout, steps):
                return Match(layout, True, mistake)
    return Match(named_layout(proposals) if _are_linear(built.parameters) else None)


def _are_linear(parameters: Sequence[Parameter]) -> bool:
    """True where names can be trusted for want of proof: nothing but nn.Linear, used as it is."""
    return all(parameter.owner == "Linear" for parameter in parameters)


def _first_look(contract: Contract, plan: CallPlan) -> Probe:
    """Build it and ask for its parameters; lazy ones take their shapes from a call."""
    sizes = _lengths(contract)
    lengths = (sizes.q_len, sizes.kv_len, sizes.kv_len)[: len(contract.inputs)]
    inputs = [np.ones((sizes.batch, length, sizes.d_model)) for length in lengths]
    call = tuple(Input(x, "float32") for x in inputs)
    construct = (sizes.d_model, sizes.num_heads)
    return Probe(plan.class_name, construct, calls=(call,), dtype="float32", describe=True)


def _hypotheses(
    proposals: Sequence[Layout], contract: Contract
) -> Iterator[tuple[Layout, Steps, Mistake | None]]:
    """Every layout as it should be; then the likeliest with one mistake that shows here."""
    yield from ((layout, CORRECT, None) for layout in proposals)
    shown = [m for m in known_for(contract) if m.is_structural or contract.causal]
    for layout, mistake in itertools.product(proposals[:LIKELIEST], shown):
        yield layout, combine([mistake]), mistake


def _try(
    contract: Contract,
    plan: CallPlan,
    run: Run,
    parameters: Sequence[Parameter],
    seed: int,
    number: int,
) -> Trial | None:
    rng = generator(seed, f"layout {number}")
    problem = draw(rng, contract, _lengths(contract), frozenset())
    theta = {p.name: _values(rng, p.shape) for p in parameters}
    calls = (tuple(Input(x, "float64") for x in problem.inputs),)
    construct = (SIZES.d_model, SIZES.num_heads)
    seen = run(Probe(plan.class_name, construct, weights=theta, calls=calls))
    if seen.status is not Status.OK or 0 not in seen.returned[0].tensors:
        return None
    return Trial(theta, problem, seen.returned[0].tensors[0])


def _lengths(contract: Contract) -> Sizes:
    if len(contract.inputs) == 3:
        return SIZES
    return Sizes(SIZES.batch, SIZES.q_len, SIZES.q_len, SIZES.d_model, SIZES.num_heads)


def _values(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    spread = BIAS if len(shape) < 2 else GAIN / np.sqrt(SIZES.d_model)
    return rng.normal(size=shape) * spread
