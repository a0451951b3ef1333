"""What rules a reading of a file out without holding the definition against it."""

from dataclasses import replace

import numpy as np
import pytest

from grader.bank.draw import draw, generator, right_steps
from grader.convention.matching import match_right, match_wrong
from grader.convention.pattern import ANYTHING, Pattern
from grader.convention.screen import Screen
from grader.convention.trials import Trial, Trials, lengths, readable, seen_by_itself
from grader.layout import propose
from grader.mistakes import CATALOGUE, combine, known_for, pairs_of
from grader.model import Contract, Parameter

LINEAR = "torch.nn.modules.linear.Linear"
PARAMETERS = [
    Parameter(f"{role}.{kind}", (18, 18) if kind == "weight" else (18,), LINEAR, True)
    for role in ("query", "key", "value", "out")
    for kind in ("weight", "bias")
]
NAMED = propose(PARAMETERS, 18, 3)[0]
PLAIN = Contract(("x",), "attention", False)
CONTRACTS = {
    "plain": PLAIN,
    "causal": replace(PLAIN, causal=True),
    "residual": replace(PLAIN, residual=True),
    "cross": Contract(("query", "key", "value"), "attention", False),
}


def returned(contract, mistakes=(), sizes=None):
    """What a module with these mistakes returns for one draw of its parameters."""
    sizes = sizes or readable(lengths(contract))
    rng = generator(7, f"screen {sizes}")
    theta = {p.name: rng.normal(size=p.shape) / 3 for p in PARAMETERS}
    problem = draw(rng, contract, sizes, frozenset())
    read = NAMED.read(theta, sizes.num_heads)
    seen = seen_by_itself(contract, sizes)
    posed = replace(problem, weights=read, visible=seen, right=right_steps(contract))
    output = posed.expect(combine(mistakes, posed.right)).output
    return Trial(theta, posed, output)


def tried(contract, mistakes=()):
    """The same for several tokens and for one."""
    one = replace(lengths(contract), q_len=1, kv_len=1)
    alone = returned(contract, mistakes, one)
    return Trials([returned(contract, mistakes)], [alone])


def passes(trials, contract, *mistakes, layout=NAMED):
    return Screen(trials, layout, contract).passes(mistakes)


@pytest.mark.parametrize("contract", CONTRACTS.values(), ids=CONTRACTS)
def test_what_is_right_passes(contract):
    assert passes(tried(contract), contract)


@pytest.mark.parametrize("contract", CONTRACTS.values(), ids=CONTRACTS)
def test_each_mistake_that_was_made_passes(contract):
    ways = [way for mistake in known_for(contract) for way in mistake.ways()]
    ruled_out = [way.id for way in ways if not passes(tried(contract, [way]), contract, way)]
    assert len(ways) > 60
    assert ruled_out == []


@pytest.mark.parametrize("contract", CONTRACTS.values(), ids=CONTRACTS)
def test_two_mistakes_that_were_made_pass(contract):
    pairs = list(pairs_of(known_for(contract), hiding=contract.causal))[::11]
    ruled_out = [
        (one.id, other.id)
        for one, other in pairs
        if not passes(tried(contract, [one, other]), contract, one, other)
    ]
    assert len(pairs) > 100
    assert ruled_out == []


def test_other_values_rule_out_what_is_done_to_scores():
    trials = tried(PLAIN, [CATALOGUE["key-used-as-value"]])
    assert not passes(trials, PLAIN)
    assert not passes(trials, PLAIN, CATALOGUE["missing-scale"])
    assert not passes(trials, PLAIN, CATALOGUE["sigmoid-for-softmax"])
    assert not passes(trials, PLAIN, CATALOGUE["query-used-as-value"])


def test_weights_of_one_token_tell_what_leaves_them_one():
    sigmoid, scale = CATALOGUE["sigmoid-for-softmax"], CATALOGUE["missing-scale"]
    assert not passes(tried(PLAIN), PLAIN, sigmoid)
    assert not passes(tried(PLAIN, [sigmoid]), PLAIN, scale)
    assert passes(tried(PLAIN, [sigmoid]), PLAIN, scale, sigmoid)


def test_another_place_of_the_values_is_ruled_out():
    others = [one for one in propose(PARAMETERS, 18, 3) if one.of_values != NAMED.of_values]
    trials = tried(PLAIN)
    assert others
    assert not any(passes(trials, PLAIN, layout=layout) for layout in others)


@pytest.mark.parametrize("contract", CONTRACTS.values(), ids=CONTRACTS)
def test_what_may_be_right_is_told_by_the_values(contract):
    key_for_value, scale = CATALOGUE["key-used-as-value"], CATALOGUE["missing-scale"]
    assert Screen(tried(contract), NAMED, contract).may_be_right()
    assert Screen(tried(contract, [scale]), NAMED, contract).may_be_right()
    assert not Screen(tried(contract, [key_for_value]), NAMED, contract).may_be_right()


def test_masks_that_show_other_keys_are_ruled_out():
    causal = CONTRACTS["causal"]
    trials = tried(causal)
    assert not passes(trials, PLAIN)
    assert not passes(trials, causal, CATALOGUE["causal-mask-missing"])
    assert not passes(trials, causal, CATALOGUE["causal-one-ahead"])
    assert not passes(trials, causal, CATALOGUE["missing-scale"], CATALOGUE["causal-reversed"])


def test_what_raises_for_one_token_rules_nothing_out():
    alone = returned(PLAIN, sizes=replace(lengths(PLAIN), q_len=1, kv_len=1))
    squeezed = replace(alone, output=alone.output[:, 0])
    trials = Trials(tried(PLAIN).drawn, [squeezed])
    assert passes(trials, PLAIN, CATALOGUE["key-used-as-value"])


def test_what_raises_for_all_but_one_token_is_matched_with_nothing():
    trials = Trials([], tried(PLAIN).alone)
    assert match_right([PLAIN], [NAMED], trials) is None
    assert match_wrong([PLAIN], [NAMED], trials) is None


def test_samples_that_are_no_numbers_are_left_out():
    hidden = CATALOGUE["causal-diagonal-hidden"].ways()[-1]
    causal = CONTRACTS["causal"]
    trials = tried(causal, [hidden])
    assert np.isnan(trials.alone[0].output).all()
    assert passes(trials, causal, hidden)
    assert not passes(trials, causal, CATALOGUE["causal-one-ahead"])
    assert not passes(trials, causal, CATALOGUE["key-used-as-value"])


def test_a_pattern_says_nothing_of_rows_that_see_nothing():
    seen = np.array([[False, False], [True, False]])
    pattern = Pattern(seen, ~seen, np.array([[False], [True]]))
    assert pattern.allows(seen)
    assert not pattern.allows(~seen)
    assert not pattern.allows(None)
    assert pattern is not ANYTHING


def test_values_that_are_nothing_rule_nothing_out():
    made = CATALOGUE["activation-inside"]
    trials = tried(PLAIN, [made])
    alone = trials.alone[0]
    # A head that a ReLU leaves without values, as it does to some in one draw of ten.
    below = alone.theta["value.bias"] - 100.0 * (np.arange(18) < 6)
    theta = {**alone.theta, "value.bias": below}
    posed = replace(alone.problem, weights=NAMED.read(theta, 3))
    seen = posed.work_out(combine([made], posed.right))
    assert [head.any() for head in seen.v.swapaxes(0, 1)] == [False, True, True]
    trial = Trial(theta, posed, seen.output)
    assert passes(Trials(trials.drawn, [trial]), PLAIN, made)
    assert not passes(Trials(trials.drawn, [trial]), PLAIN, CATALOGUE["softmax-over-heads"])
