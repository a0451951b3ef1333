"""What a check works with: draws a problem, runs it in the worker, compares with the definition.

`run` is the seam: the grader gives the sandboxed session's, tests give one that runs in process.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeVar

import numpy as np

from grader.bank.draw import Problem, generator, pose, visibility
from grader.bank.masks import Sizes, draw_mask
from grader.calling import CallPlan
from grader.definition import Activations
from grader.layout import Layout
from grader.mistakes import Mistake, are_compatible, combine, known_for
from grader.model import (
    Array,
    Case,
    Contract,
    Input,
    Message,
    Observation,
    Probe,
    Status,
)

T = TypeVar("T")
Run = Callable[[Probe], Observation]


class Finding(NamedTuple):
    """What a check found: the share of the points earned, and why not all of them."""

    credit: float
    message: Message | None = None
    mistake: str | None = None


PASSED = Finding(1.0)


def failed(key: str, /, **fields: Any) -> Finding:
    """A finding that costs all of the points, with its sentence."""
    return Finding(0.0, Message(key, fields))


class Answer(NamedTuple):
    """The contract's (output, weights) as far as the candidate returned them."""

    output: Array | None
    weights: Array | None


@dataclass
class Bench:
    """One submission on the bench, while its cases are judged."""

    contract: Contract
    plan: CallPlan
    run: Run
    layout: Layout | None
    seed: int
    carried: list[Mistake] = field(default_factory=list)
    remembered: dict[Hashable, Any] = field(default_factory=dict)
    ready_made: set[str] = field(default_factory=set)
    # Whether every probe gets a module of its own, and whether one since then has not.
    fresh: bool = True
    shared: bool = False

    def __post_init__(self) -> None:
        run = self.run

        def noting(probe: Probe) -> Observation:
            changes = probe.watch or probe.recast is not None or probe.device != "cpu"
            seen = run(probe if self.fresh or changes else replace(probe, fresh=False))
            self.ready_made.update(seen.ready_made)
            self.shared |= seen.shared
            return seen

        # Ready-made attention counts in whichever case it is used.
        self.run = noting

    def remember(self, key: Hashable, make: Callable[[], T]) -> T:
        """What `make` gives, made once: for cases that read the same observation.

        Of a module of its own: a case that fails by it cannot be tried again.
        """
        if key not in self.remembered:
            fresh, self.fresh = self.fresh, True
            self.remembered[key] = make()
            self.fresh = fresh
        found: T = self.remembered[key]
        return found

    def rng(self, case: Case | str) -> np.random.Generator:
        """The random numbers of one case, or of a problem that several cases share."""
        return generator(self.seed, case if isinstance(case, str) else case.id)

    def draw(
        self, case: Case | str, sizes: Mapping[str, int] | None = None, **options: Any
    ) -> Problem:
        """A problem for the candidate's parameters; sizes not given are the default ones."""
        wanted = Sizes(**(sizes or {}))
        if len(self.contract.inputs) == 1:
            wanted = Sizes(
                wanted.batch, wanted.q_len, wanted.q_len, wanted.d_model, wanted.num_heads
            )
        biases = frozenset(("bo",)) if self.layout is None else self.layout.biases()
        has_output = self.layout is None or "Wo" in self.layout.places
        if options.get("mask") is None:
            options.pop("mask", None)
        else:
            options["mask"] = tuple(options["mask"].items())
        name = case if isinstance(case, str) else case.id
        chosen = tuple(options.items())
        return pose(self.seed, name, self.contract, wanted, biases, has_output, chosen)

    def remask(self, case: Case, problem: Problem, kind: str, form: str) -> Problem:
        """The same weights and inputs under another mask."""
        rng = self.rng(f"{case.id} {kind} {form}")
        mask = draw_mask(rng, problem.sizes, kind, form)
        visible = visibility(self.contract, problem.sizes, mask)
        return replace(problem, mask=mask, visible=visible)

    def probe(
        self,
        problem: Problem,
        *,
        storage: str = "contiguous",
        dtype: str | None = None,
        dropout: float | None = None,
        **options: Any,
    ) -> Probe:
        """One call on this problem, as the contract says; further options are Probe's own."""
        sizes = problem.sizes
        named = {} if dropout is None or not self.plan.dropout else {self.plan.dropout: dropout}
        weights = self.layout.write(problem.weights, sizes.num_heads) if self.layout else {}
        options.setdefault("calls", (self.call(problem, storage, dtype),))
        return Probe(
            class_name=self.plan.class_name,
            construct=(sizes.d_model, sizes.num_heads),
            construct_named=named,
            weights=weights,
            dtype=dtype or problem.dtype,
            **options,
        )

    def unloaded(self, problem: Problem) -> Probe:
        """One call on this problem with the weights the candidate's constructor drew."""
        sizes = (problem.sizes.d_model, problem.sizes.num_heads)
        call = self.call(problem)
        return Probe(self.plan.class_name, sizes, calls=(call,), dtype=problem.dtype)

    def call(
        self, problem: Problem, storage: str = "contiguous", dtype: str | None = None
    ) -> tuple[Input | None, ...]:
        """The positional inputs of one call; a mask of None is left out."""
        inputs = [Input(x, dtype or problem.dtype, storage) for x in problem.inputs]
        mask = () if problem.mask is None else (Input(problem.mask, "bool"),)
        return (*inputs, *mask)

    def answer(self, observation: Observation, call: int = 0) -> Answer:
        """Output first, weights second, of one call of an observation that is `OK`."""
        # Of whatever dtype: a bool, say, has no differences.
        tensors = observation.returned[call].tensors
        first, second = (
            t if t is None else t.astype(float, copy=False) for t in map(tensors.get, (0, 1))
        )
        return Answer(first, second)

    def expect(self, case: Case, problem: Problem) -> Activations:
        """The definition's values, given the mistakes that other areas are charged with."""
        return problem.expect(combine(self.charged_elsewhere(case)))

    def charged_elsewhere(self, case: Case) -> list[Mistake]:
        """Known mistakes of this file that this case's area does not pay for."""
        return [m for m in self.carried if case.area not in m.areas]

    def explain(self, problem: Problem, output: Array) -> Mistake | None:
        """The first known mistake, together with those carried, that gives this output.

        Looked for only where the problem tells mistakes apart.
        """
        if self.carried and agrees(output, problem.expect(combine(self.carried)).output):
            return self.carried[-1]
        if not problem.tells_apart():
            return None
        for mistake in known_for(self.contract):
            if are_compatible(self.carried, mistake):
                expected = problem.expect(combine([*self.carried, mistake])).output
                if agrees(output, expected):
                    self.carried.append(mistake)
                    return mistake
        return None


def agrees(got: Array, expected: Array) -> bool:
    """Equal within what tells mistakes apart, where half of the values at least are numbers."""
    if got.shape != expected.shape or np.isfinite(expected).mean() < 0.5:
        return False
    if not np.array_equal(np.isnan(got), np.isnan(expected)):
        return False
    known = np.isfinite(expected)
    scale = np.max(np.abs(expected[known]), initial=1e-30)
    return bool(np.max(np.abs(got[known] - expected[known]), initial=0.0) <= 2e-5 * scale)


def trouble(observation: Observation) -> Finding | None:
    """Why there is nothing to compare, if so."""
    if observation.status is Status.OK:
        return None
    return Finding(0.0, describe_trouble(observation))


def describe_trouble(observation: Observation) -> Message:
    """The sentence for a probe that did not come back normally."""
    fault = observation.fault
    phase = fault.phase if fault else "run"
    if observation.status is Status.RAISED and fault is not None:
        if fault.type == "NotImplementedError":
            return Message("trouble.unfilled", {"phase": phase, "line": fault.line})
        fields = {"phase": phase, "type": fault.type, "text": fault.text, "line": fault.line}
        return Message("trouble.raised", fields)
    if observation.status is Status.TIMED_OUT:
        key = "trouble.budget" if phase == "budget" else "trouble.timed-out"
        return Message(key, {"seconds": observation.allowed_seconds})
    if observation.status is Status.DIED:
        return describe_death("trouble", observation.exit_code)
    if observation.status is Status.EXITED:
        return Message("trouble.exited", {"phase": phase})
    return Message("trouble.unreadable")


def describe_death(where: str, code: int | None) -> Message:
    """The sentence for a process that ended: by itself, or by a signal (a negative code)."""
    if code is not None and code < 0:
        return Message(f"{where}.killed", {"signal": -code})
    return Message(f"{where}.died", {"code": code})


def letters(shape: Sequence[int]) -> str:
    """A shape as people write it."""
    return "[" + ", ".join(str(size) for size in shape) + "]"
