"""Finds how a file of its own kind is built and called, by trying what its signature allows."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from grader.bank.bench import Run, agrees
from grader.bank.findings import describe_trouble
from grader.calling import CallPlan, MaskStyle, propose_builds, propose_forwards
from grader.calling.hidden import reveal
from grader.calling.roles import BUILD, FLAG, role_in
from grader.convention.found import Convention, Match
from grader.convention.masks import find_masks
from grader.convention.matching import (
    LIKELIEST,
    match_names,
    match_right,
    match_wrong,
)
from grader.convention.positions import (
    learned_positions,
    speaks_of_positions,
    speaks_of_slopes,
    speaks_of_turns,
)
from grader.convention.several import is_told, match_plain, match_told
from grader.convention.trials import (
    Trials,
    first_look,
    lengths,
    repeats,
    try_single,
    try_twice,
    without_norms,
)
from grader.convention.way import Way, propose_layouts
from grader.errors import UnusableSubmission
from grader.mistakes import combine
from grader.model import CandidateClass, Contract, Message, Observation, Status
from grader.rotary import WHOLE_PAIRS, bases_in, name_turns
from grader.variations import LEANS, UNKNOWN

ASKED = (*BUILD, ("causal", FLAG))
AXES = ("b l m", "l b m", "b m l")
MAX_BUILDS = 10
MAX_FORWARDS = 8
# As far as float64 is off in a file that works in it throughout.
EXACT = 1e-10
# How many ways of calling that run but fit no layout are looked at for known mistakes.
MAX_WRONG = 6
# The first of them with many readings of the parameters, the others with the plainest.
PROBABLE = 2
FEW = 6
MAX_PLAIN = 3
# How many kinds of positions are usual enough to be looked for behind a mistake everywhere.
USUAL = 4
PROMISE = re.compile(r"causal|masked|decoder|gpt|autoregressive", re.IGNORECASE)
TRIANGLES = re.compile(r"causal|tril|triu|future", re.IGNORECASE)
PLAIN = ("",)
OPEN_MASKS = tuple(
    MaskStyle(meaning, dtype, (form,))
    for form in ("b 1 q k", "b 1 1 k", "q k", "b k", "b q k")
    for meaning, dtype in (("visible", "bool"), ("hidden", "bool"), ("additive", "float"))
)


# Of a file whose order of axes is found out this is another order, which is tried as such: what is
# right in neither must not look like both.
OTHER_ORDER = ("sequence-first",)
match_mistaken = functools.partial(match_wrong, besides=OTHER_ORDER)


def find_convention(
    cls: CandidateClass, classes: Sequence[CandidateClass], run: Run, seed: int, source: str
) -> Convention:
    """The convention under which the file is right, or has one known mistake, or runs at all.

    Raises UnusableSubmission where nothing that was tried could be built and called.
    """
    search = Search(run, seed)
    cls = reveal(cls, source)
    ways: list[Way] = []
    for way, positions, match in search.tries(cls, classes, ways, source):
        found = match(way.contracts(positions), way.proposals, way.trials)
        if found:
            return find_masks(search.settle(found, way), run, seed, source, promises_causal(cls))
    if ways:
        way = ways[0]
        lost = speaks_of_positions(source) or bool(learned_positions(way.parameters))
        contract = replace(way.contract, positions=UNKNOWN if lost else "")
        named = match_names(contract, way.proposals, way.parameters)
        return find_masks(Convention(way.plan, named), run, seed, source)
    raise UnusableSubmission("call.none", name=cls.name, inner=search.trouble())


def promises_causal(cls: CandidateClass) -> bool:
    """True for a self-attention that calls itself causal and has no switch for it."""
    arguments = [a.name for a in (*cls.constructor, *cls.forward)]
    switch = any(PROMISE.search(name) for name in arguments)
    return PROMISE.search(cls.name) is not None and not switch


class Search:
    """Walks through ways of building and calling, and remembers what went wrong."""

    def __init__(self, run: Run, seed: int) -> None:
        self.run = run
        self.seed = seed
        self.failures: list[Observation] = []
        self.returned = False

    def tries(
        self,
        cls: CandidateClass,
        classes: Sequence[CandidateClass],
        ways: list[Way],
        source: str,
    ) -> Iterator[tuple[Way, Sequence[str], Callable[..., Match | None]]]:
        """Each way with what it may be: all as right first, noted in `ways`, then as wrong.

        Right ones with positions that the source speaks of, or with those that are learned set to
        0, come in between.
        """
        for way in self.walk(cls, classes):
            # The first way is mostly right, and then nothing more need be asked.
            way = self.alone(way) if ways else way
            yield way.plainest(LIKELIEST), PLAIN, match_right
            # What is another each time fits nothing, however much is tried.
            same = repeats(way.plan, self.run, way.trials.drawn)
            way = self.alone(way) if same else replace(way, trials=Trials())
            ways.append(way)
            yield way, PLAIN, match_right
        likely = ways[:MAX_WRONG]
        placed = [(way, tuple(LEANS)) for way in likely if speaks_of_slopes(source)]
        if speaks_of_turns(source):
            turns = name_turns(bases_in(source))
            whole = itertools.islice(self.walk(cls, classes, WHOLE_PAIRS), MAX_WRONG)
            even = [self.alone(way) for way in whole]
            placed += [(way, turns) for way in even]
            ways += [way for way, _ in placed if not likely]
        yield from ((way.plainest(LIKELIEST), kinds, match_right) for way, kinds in placed)
        still = [found for way in likely if (found := self.still(way))]
        yield from ((way, PLAIN, match_right) for way in still)
        yield from ((way, PLAIN, match_mistaken) for way in likely[:PROBABLE])
        rest = (way.plainest(FEW) for way in likely[PROBABLE:])
        yield from ((way, PLAIN, match_mistaken) for way in rest)
        yield from ((way, PLAIN, match_mistaken) for way in still)
        # Two departures at once are looked for in the plainest reading of the parameters only.
        usual = ((way.plainest(MAX_PLAIN), kinds[:USUAL]) for way, kinds in placed)
        rarer = ((way.plainest(1), kinds[USUAL:]) for way, kinds in placed[:1])
        yield from ((*one, match_mistaken) for one in (*usual, *rarer))
        # Several mistakes take longest to look for.
        may_be_causal = TRIANGLES.search(source) is not None
        several = functools.partial(match_plain, causal=may_be_causal)
        yield from ((way, PLAIN, several) for way in likely[:1] if not placed)
        if not placed and not any(is_told(way, PLAIN) for way in likely[:1]):
            told = functools.partial(match_told, causal=may_be_causal)
            yield from ((way, PLAIN, told) for way in likely[1:])

    def alone(self, way: Way) -> Way:
        """The same with what came of one token, where something came of more."""
        if way.trials.alone or not way.trials.drawn:
            return way
        alone = try_single(way.contract, way.plan, self.run, way.parameters, self.seed)
        return replace(way, trials=way.trials._replace(alone=alone))

    def walk(
        self, cls: CandidateClass, classes: Sequence[CandidateClass], head_multiple: int = 1
    ) -> Iterator[Way]:
        """Every way that runs, with heads of a size that is a multiple."""
        for (build, numbers), one_length in itertools.product(
            itertools.islice(propose_builds(cls, classes), MAX_BUILDS), (False, True)
        ):
            for forward in itertools.islice(propose_forwards(cls), MAX_FORWARDS):
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

    def settle(self, match: Match, way: Way) -> Convention:
        """The convention of a match, and the place of the weights among what is returned."""
        assert match.layout is not None
        plan = way.plan
        mistakes = match.mistakes
        problem = way.trials.drawn[0].pose(match.layout, match.contract).problem
        acts = problem.expect(combine(mistakes, problem.right))
        weights = acts.weights
        off = np.abs(way.trials.drawn[0].output - acts.output).max()
        match = replace(match, coarse=bool(off > EXACT * np.abs(acts.output).max()))
        call = plan.call(problem.inputs, None, problem.sizes.scores, "float64")
        looked = first_look(way.contract, plan)
        seen = self.run(
            looked._replace(dtype="float64", calls=(call,), weights=way.trials.drawn[0].theta)
        )
        tensors = seen.returned[0].tensors if seen.status is Status.OK else {}
        # By their values: some return the scores, or a cache of the same shape.
        found = [
            at
            for at, tensor in sorted(tensors.items())
            if agrees(tensor.astype(float), weights)
            or agrees(tensor.astype(float), weights.mean(axis=1))
        ]
        # What has their shape and is no stage of the scores is meant to be the weights.
        with np.errstate(all="ignore"):
            scores = (acts.raw, acts.scaled, acts.masked, np.log(weights))
        other = [
            at
            for at, tensor in sorted(tensors.items())
            if tensor.shape == weights.shape
            and not any(agrees(tensor.astype(float), stage) for stage in scores)
        ]
        place = next(iter(found), None)
        plan = replace(plan, doubtful=place is None and bool(other))
        return Convention(replace(plan, weights=place), match, mistakes)

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
