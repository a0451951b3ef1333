"""The layout of a file whose contract is given by its exercise."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace

from grader.bank.bench import Run
from grader.calling import CallPlan
from grader.convention.found import Match
from grader.convention.matching import (
    LIKELIEST,
    match_names,
    match_right,
    match_wrong,
)
from grader.convention.several import match_several
from grader.convention.trials import (
    SIZES,
    Trial,
    Trials,
    first_look,
    repeats,
    try_single,
    try_twice,
)
from grader.layout import propose
from grader.model import Contract

# Matches found before, by all that they follow from, the oldest first.
MATCHED: dict[Hashable, Match | None] = {}
MOST_MATCHED = 64


def match_exercise(contract: Contract, plan: CallPlan, run: Run, seed: int) -> Match:
    """The layout of a file whose contract is given.

    A proposal counts when the definition agrees with the module, as it should be or with known
    mistakes made; failing that, when the names alone settle it.
    """
    built = run(first_look(contract, plan))
    if not built.parameters:
        return Match(None, contract)
    known = propose(built.parameters, SIZES.d_model, SIZES.num_heads)
    # An exercise asks for a head of keys and values to each head of queries, and for three
    # projections.
    proposals = [layout for layout in known if not layout.kv_heads and not layout.tied]
    drawn = try_twice(contract, plan, run, built.parameters, seed)
    if not drawn and len(contract.inputs) > 1:
        # One that takes a length from the wrong sequence loses what is about two of them, not all.
        contract = replace(contract, one_length=True)
        drawn = try_twice(contract, plan, run, built.parameters, seed)
    # What was drawn and returned settles the rest: a file graded again mostly returns the same.
    key = contract, built.parameters, seed, *_told(drawn)
    likely = proposals[:LIKELIEST]
    found = _remember(key, lambda: match_right([contract], likely, Trials(drawn)))
    if found is None:
        alone = try_single(contract, plan, run, built.parameters, seed) if drawn else []
        asked = [contract], proposals, Trials(drawn, alone)
        key = *key, "and one token", *_told(alone)
        found = _remember(key, lambda: match_right(*asked) or match_wrong(*asked))
        if found is None and repeats(plan, run, drawn):
            key = *key, "several"
            found = _remember(key, lambda: match_several(contract, *asked[1:]))
    return found or match_names(contract, proposals, built.parameters)


def _remember(key: Hashable, match: Callable[[], Match | None]) -> Match | None:
    if key not in MATCHED:
        if len(MATCHED) >= MOST_MATCHED:
            del MATCHED[next(iter(MATCHED))]
        MATCHED[key] = match()
    return MATCHED[key]


def _told(trials: Sequence[Trial]) -> list[Hashable]:
    """What was returned, its shape too, in a few bytes however large a file makes it."""
    return [
        (trial.output.shape, hashlib.blake2b(trial.output.tobytes(), digest_size=16).digest())
        for trial in trials
    ]
