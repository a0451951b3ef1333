"""What a file returns for draws of all its parameters, which readings of it are held against."""

from __future__ import annotations

import functools
import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from grader.bank.bench import Run, agrees
from grader.bank.draw import BIAS, GAIN, draw, generator, right_steps, visibility
from grader.bank.masks import Sizes
from grader.bank.problem import Problem
from grader.calling import CallPlan
from grader.definition import Weights
from grader.layout import Layout
from grader.mistakes import Mistake, combine
from grader.model import Array, Contract, Parameter, Probe, Status
from grader.rehearsal import Rehearsal

SIZES = Sizes()
NORM = re.compile(r"(layer|rms)_?norm", re.IGNORECASE)


@dataclass(frozen=True)
class Trial:
    """What the module returned for one draw of its parameters.

    What is found out of it is kept: its parameters by `places`, and what they have `told`.
    """

    theta: dict[str, Array]
    problem: Problem
    output: Array
    last: list[tuple[Layout, Rehearsal]] = field(default_factory=list)
    places: dict[Hashable, Array] = field(default_factory=dict)
    told: dict[Hashable, Any] = field(default_factory=dict)

    def pose(self, layout: Layout, contract: Contract) -> Posed:
        """The problem that was tried, with its parameters read through `layout`."""
        sizes = self.problem.sizes
        if not self.last or self.last[0][0] is not layout:
            # Kept for the other contracts that are tried with it.
            known = Rehearsal(self.read(layout), self.problem.attended, sizes.num_heads)
            self.last[:] = [(layout, known)]
        rehearsal = self.last[0][1]
        seen, right = seen_by_itself(contract, sizes), right_steps(contract)
        problem = replace(self.problem, weights=rehearsal.weights, visible=seen, right=right)
        return Posed(problem, self.output, rehearsal)

    @functools.cached_property
    def known(self) -> Array:
        """Which rows of the output are numbers, [b, q]."""
        return np.asarray(np.isfinite(self.output).all(axis=-1))

    def read(self, layout: Layout) -> Weights:
        """The parameters that were drawn, through `layout`."""
        return layout.read(self.theta, self.problem.sizes.num_heads, self.places)


class Trials(NamedTuple):
    """What one way of calling gave: for draws of its parameters, and for a token `alone`."""

    drawn: Sequence[Trial] = ()
    alone: Sequence[Trial] = ()


@functools.lru_cache(maxsize=256)
def seen_by_itself(contract: Contract, sizes: Sizes) -> Array | None:
    """Which key each query may see, [b, h, q, k], where no mask is given; None for all."""
    return visibility(contract, sizes, None)


class Posed(NamedTuple):
    """A trial read through one layout and contract, and what the module returned."""

    problem: Problem
    output: Array
    rehearsal: Rehearsal

    def shows(self, mistakes: Sequence[Mistake] = ()) -> bool:
        """True when the definition returns the same with these mistakes made."""
        steps = combine(mistakes, self.problem.right)
        return agrees(self.output, self.rehearsal.play(steps, self.problem.visible))


def first_look(contract: Contract, plan: CallPlan) -> Probe:
    """Build it and ask for its parameters; lazy ones take their shapes from a call."""
    sizes = lengths(contract)
    shown = (sizes.q_len, sizes.kv_len, sizes.kv_len)[: len(contract.inputs)]
    inputs = [np.ones((sizes.batch, length, sizes.d_model)) for length in shown]
    call = plan.call(inputs, None, sizes.scores, "float32")
    built = plan.construct(sizes.by_name())
    quiet = bool(plan.norms)
    probe = Probe(plan.class_name, **built, calls=(call,), without_norms=quiet, zeroed=plan.zeroed)
    return probe._replace(dtype="float32", describe=True)


def try_twice(
    contract: Contract, plan: CallPlan, run: Run, parameters: Sequence[Parameter], seed: int
) -> list[Trial]:
    """Two draws of the parameters and what came of them; [] where one failed."""
    sizes = readable(lengths(contract))
    tried = [(f"layout {number}", sizes) for number in range(2)]
    return _try_all(contract, plan, run, parameters, seed, tried)


def try_single(
    contract: Contract, plan: CallPlan, run: Run, parameters: Sequence[Parameter], seed: int
) -> list[Trial]:
    """The same with sequences of one token, of which there is nothing to weigh."""
    tried = [("layout alone", replace(lengths(contract), q_len=1, kv_len=1))]
    return _try_all(contract, plan, run, parameters, seed, tried)


def repeats(plan: CallPlan, run: Run, trials: Sequence[Trial]) -> bool:
    """False for a module that returns something else each time it is asked: nothing fits that."""
    if not trials:
        return True
    probe = _probe(plan, trials[0].problem, trials[0].theta)
    seen = run(probe._replace(calls=probe.calls * 2))
    outputs = [one.tensors.get(plan.output) for one in seen.returned]
    known = [output for output in outputs if output is not None]
    return len(known) < 2 or np.array_equal(known[0], known[1], equal_nan=True)


def _try_all(
    contract: Contract,
    plan: CallPlan,
    run: Run,
    parameters: Sequence[Parameter],
    seed: int,
    tried: Sequence[tuple[str, Sizes]],
) -> list[Trial]:
    trials = []
    for name, sizes in tried:
        rng = generator(seed, name)
        problem = draw(rng, contract, sizes, frozenset())
        theta = {p.name: _values(rng, p.shape) for p in parameters}
        output = _output(plan, run, problem, theta)
        if output is None:
            return []
        trials.append(Trial(theta, problem, output))
    return trials


def _output(plan: CallPlan, run: Run, problem: Problem, theta: dict[str, Array]) -> Array | None:
    seen = run(_probe(plan, problem, theta))
    if seen.status is not Status.OK or plan.output not in seen.returned[0].tensors:
        return None
    return plan.restore(seen.returned[0].tensors[plan.output].astype(float))


def _probe(plan: CallPlan, problem: Problem, theta: dict[str, Array]) -> Probe:
    calls = (plan.call(problem.inputs, None, problem.sizes.scores, "float64"),)
    built = plan.construct(problem.sizes.by_name())
    probe = Probe(plan.class_name, **built, weights=theta, calls=calls, zeroed=plan.zeroed)
    return probe._replace(without_norms=bool(plan.norms))


def lengths(contract: Contract) -> Sizes:
    """The default sizes as far as the contract has room for them: one length, even heads."""
    sizes = SIZES.with_heads_of(contract.head_multiple)
    if len(contract.inputs) > 1 and not contract.one_length:
        return sizes
    return replace(sizes, kv_len=sizes.q_len)


def readable(sizes: Sizes) -> Sizes:
    """With so few keys that there are less values than numbers in an output.

    The weights can then be told from it.
    """
    if sizes.q_len == sizes.kv_len:
        return sizes
    return replace(sizes, q_len=sizes.q_len - 1, kv_len=sizes.kv_len - 2)


def without_norms(parameters: Sequence[Parameter]) -> list[Parameter]:
    """The parameters that are not those of a layer norm."""
    return [p for p in parameters if not NORM.fullmatch(p.owner.rpartition(".")[2])]


def _values(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    spread = BIAS if len(shape) < 2 else GAIN / np.sqrt(SIZES.d_model)
    return rng.normal(size=shape) * spread
