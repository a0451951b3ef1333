"""Finds how a file of its own kind is built and called, by trying what its signature allows."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from grader.bank.bench import Run, agrees
from grader.calling import (
    takes_tables,
)
from grader.calling.hidden import reveal
from grader.convention.attempts import Attempts
from grader.convention.caches import find_cache
from grader.convention.found import Convention, Match
from grader.convention.masks import find_masks
from grader.convention.matching import (
    LIKELIEST,
    match_names,
    match_right,
    match_turned,
    match_wrong,
)
from grader.convention.positions import (
    learned_positions,
    speaks_of_positions,
    speaks_of_slopes,
    speaks_of_turns,
)
from grader.convention.several import match_plain, match_told
from grader.convention.told import is_told
from grader.convention.trials import (
    Trials,
    first_look,
    repeats,
)
from grader.convention.way import Way
from grader.errors import UnusableSubmission
from grader.mistakes import combine
from grader.model import CandidateClass, Status
from grader.rotary import BASE, SHARES, WHOLE_PAIRS, bases_in, name_turns, turn_back
from grader.variations import LEANS, UNKNOWN

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
TURNS = name_turns([BASE], [1.0])


# Of a file whose order of axes is found out this is another order, which is tried as such: what is
# right in neither must not look like both.
OTHER_ORDER = ("sequence-first",)
# Tables of positions have other forms yet.
match_uneven = functools.partial(match_turned, alike=False)
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
            settled = search.settle(found, way)
            settled = find_masks(settled, run, seed, source, promises_causal(cls))
            return find_cache(settled, run, seed)
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


class Search(Attempts):
    """Walks through ways of building and calling, and what each may be."""

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
            # Who is given a table of positions mostly turns by it.
            kinds = (*PLAIN, *TURNS) if way.plan.has_tables else PLAIN
            yield way.plainest(LIKELIEST), kinds, match_right
            # What is another each time fits nothing, however much is tried.
            same = repeats(way.plan, self.run, way.trials.drawn)
            way = self.alone(way) if same else replace(way, trials=Trials())
            ways.append(way)
            yield way, kinds, match_right
            yield way.plainest(MAX_PLAIN), kinds, match_uneven
        likely = ways[:MAX_WRONG]
        placed = [(way, tuple(LEANS)) for way in likely if speaks_of_slopes(source)]
        if speaks_of_turns(source):
            placed += list(self._turned(cls, classes, bases_in(source)))
            ways += [way for way, _ in placed if not likely]
        yield from ((way.plainest(LIKELIEST), kinds, match_right) for way, kinds in placed)
        back = ((way.plainest(MAX_PLAIN), turn_back(kinds)) for way, kinds in placed)
        yield from ((*one, match_right) for one in back)
        yield from ((way.plainest(MAX_PLAIN), kinds, match_turned) for way, kinds in placed)
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

    def _turned(
        self, cls: CandidateClass, classes: Sequence[CandidateClass], bases: Sequence[float]
    ) -> Iterator[tuple[Way, tuple[str, ...]]]:
        """Ways with heads that can be turned in part, and how they may be.

        A table that is given from outside says how much of each head is.
        """
        if not takes_tables(cls):
            whole = itertools.islice(self.walk(cls, classes, WHOLE_PAIRS), MAX_WRONG)
            yield from ((self.alone(way), name_turns(bases, SHARES)) for way in whole)
            return
        for share in SHARES:
            part = itertools.islice(self.walk(cls, classes, WHOLE_PAIRS, share), MAX_WRONG)
            yield from ((self.alone(way), name_turns([BASE], [share])) for way in part)

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
