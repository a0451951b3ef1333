"""What a check works with: draws a problem, runs it in the worker, compares with the definition.

`run` is the seam: the grader gives the sandboxed session's, tests give one that runs in process.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeVar

import numpy as np

from grader.bank.ahead import Ahead
from grader.bank.draw import generator, pose, right_steps, visibility
from grader.bank.masks import Sizes, draw_mask
from grader.bank.problem import Problem
from grader.calling import CallPlan
from grader.definition import Activations, Steps
from grader.layout import Layout
from grader.layout.places import EACH_HEAD
from grader.mistakes import Mistake, combine
from grader.model import (
    Array,
    Call,
    Case,
    Contract,
    Message,
    Observation,
    Probe,
)

# Kinds of masks that mean the same along whichever axes they are drawn.
SHAPELESS = ("random", "dead", "open")
# Where masks are lengths: the nearest kind that a length can say.
LENGTHS = {"random": "padding", "dead": "dead-padding", "open": "open"}
T = TypeVar("T")
Run = Callable[[Probe], Observation]


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
    # The text of the file, for cases that only what it names makes worth their time.
    source: str = ""
    carried: list[Mistake] = field(default_factory=list)
    # What fits as well as the mistake that was named, by its id.
    alternatives: dict[str, tuple[str, ...]] = field(default_factory=dict)
    remembered: dict[Hashable, Any] = field(default_factory=dict)
    # What is worth knowing of the file and costs it nothing.
    notes: list[Message] = field(default_factory=list)
    ready_made: set[tuple[str, int]] = field(default_factory=set)
    ahead: Ahead = field(default_factory=Ahead)
    # What one call has taken at the most, in seconds.
    pace: float = 0.0
    # Whether every probe gets a module of its own, and whether one since then has not.
    fresh: bool = True
    shared: bool = False

    def __post_init__(self) -> None:
        run = self.run

        def timed(probe: Probe) -> Observation:
            began = time.monotonic()
            seen = run(probe)
            self.pace = max(self.pace, (time.monotonic() - began) / max(1, len(probe.calls)))
            return seen

        def noting(probe: Probe) -> Observation:
            changes = (
                probe.watch,
                probe.trace,
                probe.recast,
                probe.between,
                probe.moved,
                probe.left is not None,
            )
            if self.fresh or any(changes):
                seen = timed(probe)
            else:
                known = self.ahead.answer(probe, timed, self.pace)
                seen = known or timed(probe._replace(fresh=False))
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
        self,
        case: Case | str,
        sizes: Mapping[str, int] | None = None,
        crossed: bool = False,
        **options: Any,
    ) -> Problem:
        """A problem for the candidate's parameters; sizes not given are the default ones.

        `crossed` is of two lengths even where the file has room for one alone, as are all problems
        of the area of that name.
        """
        wanted = Sizes(**(sizes or {}))
        crossed |= isinstance(case, Case) and case.area == "cross-attention"
        if len(self.contract.inputs) == 1 or (self.contract.one_length and not crossed):
            wanted = wanted.with_one_length()
        wanted = wanted.with_heads_of(self.contract.head_multiple)
        if self.layout is not None and self.layout.kv_heads:
            wanted = replace(wanted, kv_heads=self.layout.kv_heads)
        biases = frozenset(("bo",)) if self.layout is None else self.layout.biases()
        has_output = self.layout is None or "Wo" in self.layout.places
        if wanted.num_heads == 1 and has_output and not self._projects(wanted):
            has_output, biases = False, biases - {"bo"}
        if options.get("mask") is None:
            options.pop("mask", None)
        else:
            options["mask"] = tuple(self._fit(options["mask"]).items())
        name = case if isinstance(case, str) else case.id
        chosen = tuple(options.items())
        return pose(self.seed, name, self.contract, wanted, biases, has_output, chosen)

    def _projects(self, sizes: Sizes) -> bool:
        """False where one head as wide as the model goes without the output projection.

        A custom of files whose head size is an argument of its own; asked of the module itself.
        """
        if self.layout is None or not self.plan.fixes_head_dim:
            return True
        probe = self.build(sizes.d_model, sizes.num_heads)._replace(describe=True)
        key = ("parameters", sizes.d_model, sizes.num_heads)
        names = {p.name for p in self.remember(key, lambda: self.run(probe)).parameters}
        return not names or self.layout.places["Wo"].weight.replace(EACH_HEAD, "0") in names

    def _fit(self, mask: Mapping[str, str]) -> Mapping[str, str]:
        """The mask in the nearest form that the file takes, where its kind has a meaning there."""
        if self.plan.takes_lengths:
            kind = LENGTHS.get(mask["kind"], mask["kind"])
            return {"kind": kind, "form": "b 1 1 k" if kind in LENGTHS.values() else mask["form"]}
        taken = self.plan.mask_axes()
        wanted = set(mask["form"].split()) - {"1"}
        if not taken or mask["kind"] not in SHAPELESS or any(wanted <= axes for axes in taken):
            return mask
        nearest = max(taken, key=lambda axes: len(wanted & axes))
        return {**mask, "form": " ".join(axis if axis in nearest else "1" for axis in "bhqk")}

    def remask(self, case: Case, problem: Problem, kind: str, form: str) -> Problem:
        """The same weights and inputs under another mask."""
        name = f"{case.id} {kind} {form}"

        def make() -> Problem:
            mask = draw_mask(self.rng(name), problem.sizes, kind, form)
            visible = visibility(self.contract, problem.sizes, mask)
            return replace(problem, mask=mask, visible=visible)

        return problem.once((name, self.contract), make)

    def steps(self, mistakes: Sequence[Mistake]) -> Steps:
        """What the contract says is right, with these mistakes made."""
        return combine(mistakes, right_steps(self.contract))

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
        weights: Mapping[str, Array] = {}
        if self.layout is not None:
            weights = self.layout.recall(problem.weights, sizes.num_heads, sizes.kv_heads)
            # One that a file always has is no argument.
            sizes = replace(sizes, kv_heads=0) if self.layout.kv_heads else sizes
        options.setdefault("calls", (self.call(problem, storage, dtype),))
        if options.get("cotangent") is not None:
            options["cotangent"] = self.plan.arrange(options["cotangent"])
        built = self.plan.construct(sizes.by_name(), dropout)
        return self._probe(built | options, weights=weights, dtype=dtype or problem.dtype)

    def build(self, d_model: int, num_heads: int) -> Probe:
        """The constructor alone."""
        return self._probe(self.plan.construct({"d_model": d_model, "num_heads": num_heads}))

    def unloaded(self, problem: Problem) -> Probe:
        """One call on this problem with the weights the candidate's constructor drew."""
        built = self.plan.construct(replace(problem.sizes, kv_heads=0).by_name())
        return self._probe(built, calls=(self.call(problem),), dtype=problem.dtype)

    def _probe(self, options: Mapping[str, Any], **more: Any) -> Probe:
        plan = self.plan
        fixed = {"output": plan.output, "without_norms": bool(plan.norms), "zeroed": plan.zeroed}
        return Probe(plan.class_name, **{**fixed, **options, **more})

    def call(self, problem: Problem, storage: str = "contiguous", dtype: str | None = None) -> Call:
        """The inputs of one call, as the plan arranges them; a mask of None is left out."""
        wanted = dtype or problem.dtype
        return self.plan.call(problem.inputs, problem.mask, problem.sizes.scores, wanted, storage)

    def answer(self, observation: Observation, call: int = 0) -> Answer:
        """Output and weights of one call of an observation that is `OK`."""
        # Of whatever dtype: a bool, say, has no differences.
        found = {at: t.astype(float) for at, t in observation.returned[call].tensors.items()}
        output = found.get(self.plan.output)
        weights = None if self.plan.weights is None else found.get(self.plan.weights)
        return Answer(None if output is None else self.plan.restore(output), weights)

    def input_gradients(self, observation: Observation) -> dict[str, Array | None]:
        """The gradients of the contract's inputs, by the contract's names."""
        claimed = dict(zip(self.inputs_in_call(), observation.input_gradients))
        found = {name: claimed.get(name) for name in self.contract.inputs}
        return {n: None if g is None else self.plan.restore(g) for n, g in found.items()}

    def inputs_in_call(self) -> list[str]:
        """The contract's inputs in the order of the candidate's arguments."""
        names = dict(zip(self.plan.sequences, self.contract.inputs))
        return [names[slot.role] for slot in self.plan.forward if slot.role in names]

    def expect(self, case: Case, problem: Problem) -> Activations:
        """The definition's values, given the mistakes that other areas are charged with."""
        return problem.expect(self.steps(self.charged_elsewhere(case)))

    def charged_elsewhere(self, case: Case) -> list[Mistake]:
        """Known mistakes of this file that this case's area does not pay for."""
        return [m for m in self.carried if case.area not in m.areas]


def in_training(is_wanted: object) -> dict[str, Any]:
    """The options of a probe in training mode in which nothing is dropped, or none."""
    return {"train": True, "dropout": 0.0} if is_wanted else {}


def agrees(got: Array, expected: Array) -> bool:
    """Equal within what tells mistakes apart, where half of the values at least are numbers."""
    if got.shape != expected.shape:
        return False
    known = np.isfinite(expected)
    if not known.all():
        if known.mean() < 0.5 or not np.array_equal(np.isnan(got), np.isnan(expected)):
            return False
        got, expected = got[known], expected[known]
    # Nothing is near what is no number: the comparison is False then.
    scale = np.abs(expected).max(initial=1e-30)
    return bool(np.abs(got - expected).max(initial=0.0) <= 2e-5 * scale)
