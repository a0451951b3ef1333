"""Ways of building and calling a file that its signatures allow, as far as they run."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from grader.bank.bench import Run
from grader.bank.findings import describe_trouble
from grader.calling import CallPlan, MaskStyle, propose_builds, propose_forwards, with_tables
from grader.calling.roles import BUILD, FLAG, role_in
from grader.convention.positions import learned_positions
from grader.convention.trials import (
    Trials,
    first_look,
    lengths,
    try_single,
    try_twice,
    without_norms,
)
from grader.convention.way import Way, propose_layouts
from grader.model import CandidateClass, Contract, Message, Observation, Parameter, Status

ASKED = (*BUILD, ("causal", FLAG))
AXES = ("b l m", "l b m", "b m l")
MAX_BUILDS = 10
MAX_FORWARDS = 8
OPEN_MASKS = tuple(
    MaskStyle(meaning, dtype, (form,))
    for form in ("b 1 q k", "b 1 1 k", "q k", "b k", "b q k")
    for meaning, dtype in (("visible", "bool"), ("hidden", "bool"), ("additive", "float"))
)


class Attempts:
    """Tries ways of building and calling one file, and remembers what went wrong."""

    def __init__(self, run: Run, seed: int) -> None:
        self.run = run
        self.seed = seed
        self.failures: list[Observation] = []
        self.returned = False

    def alone(self, way: Way) -> Way:
        """The same with what came of one token, where something came of more."""
        if way.trials.alone or not way.trials.drawn:
            return way
        alone = try_single(way.contract, way.plan, self.run, way.parameters, self.seed)
        return replace(way, trials=way.trials._replace(alone=alone))

    def walk(
        self,
        cls: CandidateClass,
        classes: Sequence[CandidateClass],
        head_multiple: int = 1,
        share: float = 1.0,
    ) -> Iterator[Way]:
        """Every way that runs, with heads of a size that is a multiple, and gives something new.

        Tables of positions are given for this share of each head.
        """
        given: set[tuple[Contract, tuple[Parameter, ...], tuple[bytes, ...]]] = set()
        for way in self._walk(cls, classes, head_multiple, share):
            outputs = tuple(trial.output.tobytes() for trial in way.trials.drawn)
            found = way.contract, way.parameters, outputs
            if not outputs or found not in given:
                given.add(found)
                yield way

    def _walk(
        self,
        cls: CandidateClass,
        classes: Sequence[CandidateClass],
        head_multiple: int,
        share: float,
    ) -> Iterator[Way]:
        for (build, numbers), one_length in itertools.product(
            itertools.islice(propose_builds(cls, classes), MAX_BUILDS), (False, True)
        ):
            forwards = itertools.islice(propose_forwards(cls), MAX_FORWARDS)
            tabled = (full for forward in forwards for full in with_tables(forward, share))
            for forward in tabled:
                plan = CallPlan(cls.name, cls.line, build, forward, numbers, weights=None)
                if one_length and len(plan.sequences) == 1:
                    continue
                try:
                    yield from self._ways(plan, one_length, head_multiple)
                except _CannotBuildError:
                    break

    def _ways(self, plan: CallPlan, one_length: bool, head_multiple: int) -> Iterator[Way]:
        names = plan.sequences
        inputs = ("x",) if len(names) == 1 else tuple(names)
        contract = Contract(inputs, "attention", False, one_length=one_length)
        contract = replace(contract, head_multiple=head_multiple)
        for shown, axes in itertools.product(_with_open_masks(plan), AXES):
            tried = replace(shown, axes=axes)
            seen = self.run(first_look(contract, tried))
            if seen.status is not Status.OK:
                self.failures.append(seen)
                if seen.fault and seen.fault.phase == "construct":
                    raise _CannotBuildError
                continue
            self.returned = True
            placed = _place_output(tried, seen, contract)
            if placed is None:
                continue
            yield self._look(placed, contract, seen)

    def still(self, way: Way) -> Way | None:
        """The same way with the parameters for positions set to 0, if there are any."""
        names = learned_positions(way.parameters)
        if not names:
            return None
        plan = replace(way.plan, zeroed=names)
        own = tuple(p for p in way.parameters if p.name not in names)
        drawn = try_twice(way.contract, plan, self.run, own, self.seed)
        found = Way(plan, way.contract, own, propose_layouts(own, way.contract), Trials(drawn))
        return self.alone(found)

    def _look(self, plan: CallPlan, contract: Contract, seen: Observation) -> Way:
        own = tuple(without_norms(seen.parameters))
        asked = frozenset(role_in(name, ASKED) for name in seen.asked)
        norms = frozenset(p.name for p in seen.parameters if p not in own)
        plan = replace(plan, norms=norms, asked=asked)
        drawn = try_twice(contract, plan, self.run, own, self.seed)
        return Way(plan, contract, own, propose_layouts(own, contract), Trials(drawn))

    def trouble(self) -> Message:
        """What most of the ways that could be built ran into, else why none could be built.

        Of as many the first; the wrong ways of calling each have an error of their own.
        """
        if self.returned:
            return Message("call.no-tensor")
        ran = [seen for seen in self.failures if seen.fault and seen.fault.phase != "construct"]
        met = [describe_trouble(seen) for seen in ran or self.failures]
        return max(met, key=met.count) if met else Message("call.no-tensor")


class _CannotBuildError(Exception):
    """The constructor refused; another call changes nothing."""


def _with_open_masks(plan: CallPlan) -> Iterator[CallPlan]:
    """The plan without masks; where one must be given, with masks that hide nothing."""
    needed = [slot for slot in plan.forward if slot.required and slot.role in ("mask", "padding")]
    if not needed:
        yield plan
        return
    for style in OPEN_MASKS:
        forward = tuple(
            replace(s, style=style) if s in needed and s.style.meaning != "lengths" else s
            for s in plan.forward
        )
        yield replace(plan, forward=forward)


def _place_output(plan: CallPlan, seen: Observation, contract: Contract) -> CallPlan | None:
    """The plan with the position of the first thing returned that has the output's shape."""
    sizes = lengths(contract)
    shape = plan.arrange(np.empty((sizes.batch, sizes.q_len, sizes.d_model))).shape
    tensors = seen.returned[0].tensors
    place = next((at for at, tensor in sorted(tensors.items()) if tensor.shape == shape), None)
    return None if place is None else replace(plan, output=place)
