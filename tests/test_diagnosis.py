"""Mistakes named from what was seen, their order, the walk, and traces that are made up."""

import re
from dataclasses import replace

import pytest
from sources import MERGE, PLAIN, PROJECT, SCALED, SOFTMAX, SPLIT, line_of
from test_grading import UNKNOWN_LAYOUT

from grader.bank import load_exercise
from grader.bank.bench import Bench
from grader.diagnosis import diagnose
from grader.mistakes import CATALOGUE, name_mistakes
from grader.mistakes.rules import RULES
from grader.mistakes.seen import name_seen
from grader.model import Message, Observation, Outcome, Status, Verdict
from grader.texts import load_texts

EXERCISE = load_exercise("self-attention")
AREAS = {case.id: case.area for case in EXERCISE.cases}


def fail(key, case="values", mistake=None, cost=1.0, **fields):
    """A failed verdict with this message."""
    area = AREAS.get(case, "state")
    return Verdict(case, area, Outcome.FAILED, 0.0, cost, Message(key, fields), mistake)


# One sign for each rule, in the order of the rules, and a statement where a rule asks for one.
SIGNS = [
    ("copy-loses-state", fail("state.pickle-differs")),
    ("not-filled-in", fail("trouble.unfilled")),
    ("super-init-missing", fail("trouble.raised", text="module before Module.__init__() call")),
    ("view-on-non-contiguous", fail("trouble.raised", text="view size is not compatible with")),
    ("fill-overflows-float16", fail("trouble.raised", text="be converted without overflow")),
    (
        "mask-tested-for-truth",
        fail(
            "trouble.raised", text="Boolean value of Tensor with more than one value is ambiguous"
        ),
    ),
    ("mask-none-used", fail("trouble.raised", "mask-none", text="bad operand type for unary ~")),
    ("no-such-method", fail("trouble.raised", text="'Tensor' object has no attribute 'mask_fill'")),
    ("in-place-breaks-backward", fail("trouble.raised", text="modified by an inplace operation")),
    ("state-kept", fail("trouble.raised", "cast-after-use", text="expected Double")),
    ("dtypes-mixed", fail("trouble.raised", text="expected m1 and m2 to have the same dtype")),
    (
        "padding-on-query-axis",
        fail("trouble.raised", text="The size of tensor a (7) must match the size of tensor b (5)"),
        "forward> scores = scores.masked_fill(pad[:, None, :, None], -1e9)",
    ),
    ("wrong-cross-length", fail("shape.lengths", "shapes")),
    ("divisibility-unchecked", fail("divisibility.accepted")),
    ("head-dim-floored", fail("divisibility.cut")),
    ("divisibility-checked-late", fail("divisibility.only-in-forward")),
    ("divisibility-asserted", fail("divisibility.other-exception")),
    (
        "divisibility-check-reversed",
        fail("trouble.raised", "constructs", text="d_model must be divisible by num_heads"),
        "__init__> if num_heads % d_model:",
    ),
    ("nan-dead-rows", fail("dead.not-finite", "dead-rows-float64")),
    ("uniform-dead-rows", fail("dead.uniform-half", "dead-rows-float64")),
    ("dead-output-zeroed", fail("dead.output-zero", "dead-rows-float64")),
    ("dead-rows-not-zero", fail("dead.not-zero", "dead-rows-float64")),
    ("nan-dead-gradients", fail("dead.gradient-not-finite", "dead-rows-gradients")),
    ("state-kept", fail("dropout.differs-in-eval")),
    ("dropout-always-on", fail("dropout.on-in-eval")),
    ("dropout-never-applied", fail("dropout.never-on")),
    ("global-switch-turned", fail("dropout.repeats"), "forward> torch.manual_seed(0)"),
    ("dropout-repeats", fail("dropout.repeats")),
    ("dropout-not-inverted", fail("dropout.scale")),
    ("dropout-renormalised", fail("dropout.renormalised")),
    ("dropout-misplaced", fail("dropout.elsewhere")),
    ("dropout-shared", fail("dropout.together")),
    ("dropout-rate-wrong", fail("dropout.rate")),
    ("dropout-argument-missing", fail("dropout.no-argument")),
    ("dropout-gradient-wrong", fail("dropout.slope")),
    ("training-weights-wrong", fail("dropout.returned")),
    (
        "dropout-zero-ignored",
        fail("values.differ", "dropout-of-zero"),
        "__init__> self.drop = nn.Dropout(dropout or 0.1)",
    ),
    (
        "training-mode-differs",
        fail("dropout.mean-of-default", "dropout-of-zero"),
        "forward> if mask is not None and (not self.training)",
    ),
    ("training-mode-differs", fail("values.differ", "dropout-of-zero")),
    ("state-kept", fail("state.kept")),
    ("copy-shares-weights", fail("state.copy-leans")),
    ("weights-by-name-misread", fail("state.by-name-differs")),
    ("input-changed-in-place", fail("state.input-changed")),
    ("parameters-not-registered", fail("state.unregistered")),
    ("parameter-unused", fail("state.idle-parameter")),
    ("extra-parameter", fail("state.extra-parameter")),
    (
        "layers-rebuilt",
        fail("state.turned", names="random state"),
        "forward> out = nn.Linear(4, 4)(x)",
    ),
    (
        "dropout-always-on",
        fail("state.turned", names="random state"),
        "forward> w = F.dropout(w, 0.1)",
    ),
    ("global-switch-turned", fail("state.turned")),
    ("tensor-left-behind", fail("state.stays-behind")),
    ("ready-made-attention", fail("state.ready-made")),
    ("output-dtype-changed", fail("dtype.differs")),
    ("softmax-in-half", fail("values.imprecise")),
    ("empty-input-mishandled", fail("shape.empty")),
    ("weights-missing", fail("shape.not-a-pair")),
    ("weights-averaged", fail("shape.differs", "weights-shape", got="[2, 5, 5]")),
    ("key-heads-in-two-orders", fail("heads.two-orders", "shapes")),
    ("output-projection-missing", fail("shape.no-output-projection")),
    ("gradient-cut", fail("gradient.missing")),
    ("gradient-cut", fail("gradient.differs", got="0")),
    ("second-gradient-cut", fail("gradient.second", "gradients-of-gradients")),
    ("future-leaks", fail("mask.future-leaks", "causal-future")),
    ("padding-leaks", fail("mask.hidden-leaks", "padding-hidden")),
    ("identity-shortcut", fail("values.differ", "one-tensor-for-all")),
    ("single-head-mishandled", fail("values.differ", "mask-one-head")),
    ("dead-rows-in-some-heads", fail("values.differ", "dead-rows-in-some-heads")),
    ("zero-taken-for-hidden", fail("values.differ", "faint-scores")),
    ("sums-in-half", fail("values.differ", "long-rows-float16")),
    ("overflow-in-half", fail("values.not-finite", "large-values-float16")),
    (
        "scores-clamped",
        fail("values.differ", "large-logits-float32"),
        "forward> scores = scores.clamp(-50, 50)",
    ),
    (
        "fill-too-small",
        fail("values.differ", "hidden-however-large"),
        "forward> scores = scores.masked_fill(~mask, -50.0)",
    ),
    ("exp-overflow", fail("values.not-finite", "large-logits-float32")),
    ("wrong-cross-length", fail("shape.differs", "more-keys")),
    ("state-kept", fail("values.differ", "no-state")),
]
SIGNS = [(*sign, "")[:3] for sign in SIGNS]
# Rules that look at one kind of failure, whatever else is known to be wrong.
BY_KIND = ("exp-overflow", "second-gradient-cut")


def test_every_rule_has_a_sign():
    assert [mistake for mistake, *_ in SIGNS] == [rule.mistake for rule in RULES]


@pytest.mark.parametrize("at", range(len(RULES)), ids=lambda at: f"{at}-{RULES[at].mistake}")
def test_sign_names_its_mistake_by_its_own_rule(at):
    mistake, verdict, statement = SIGNS[at]
    assert name_seen(verdict, [verdict], statement) == mistake
    first = next(rule for rule in RULES if rule.fits(verdict, statement))
    assert first is RULES[at]
    if statement:
        assert name_seen(verdict, [verdict]) != mistake


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.mistake)
def test_rule_speaks_of_what_exists(rule):
    """Keys that a check can give, cases that a bank has, a mistake with a sentence."""
    sentences = load_texts("en").sentences
    assert any(re.fullmatch(rule.key, key) for key in sentences)
    assert f"mistake.{rule.mistake}" in sentences
    names = ("self-attention", "causal-self-attention", "cross-attention", "free")
    cases = [case.id for name in names for case in load_exercise(name).cases]
    assert any(re.search(rule.case, case) for case in cases)


# Named by the sizes at which a file fails, by the forms of its masks, by what passes beside it.
OTHERWISE = {
    "batch-squeezed",
    "length-squeezed",
    "length-limited",
    "mask-form-refused",
    "mask-form-misread",
    "divisibility-check-incomplete",
}


def test_mistakes_with_a_sentence_can_be_named():
    named = {
        key.removeprefix("mistake.") for key in load_texts("en").sentences if "mistake." in key
    }
    assert named - set(CATALOGUE) - {rule.mistake for rule in RULES} == OTHERWISE


@pytest.mark.parametrize(
    "verdict",
    [fail("values.differ"), fail("trouble.raised", text="boom"), fail("gradient.differs")],
    ids=lambda verdict: verdict.message.key,
)
def test_sign_of_nothing_in_particular_names_nothing(verdict):
    assert name_seen(verdict, [verdict]) is None


@pytest.mark.parametrize("outcome", [o for o in Outcome if o is not Outcome.FAILED])
def test_only_what_failed_is_named(outcome):
    verdict = Verdict("values", "scaling", outcome, 0.0, 1.0, Message("trouble.unfilled"))
    assert name_seen(verdict, [verdict]) is None


def test_mistake_named_by_a_check_stays():
    verdict = fail("dead.not-finite", "dead-rows-float64", "missing-scale")
    assert name_seen(verdict, [verdict]) == "missing-scale"


CASE_RULES = [at for at, r in enumerate(RULES) if r.case and r.alone and r.mistake not in BY_KIND]
SURE_RULES = [at for at, rule in enumerate(RULES) if rule.case and not rule.alone]


@pytest.mark.parametrize("at", CASE_RULES, ids=lambda at: f"{at}-{RULES[at].mistake}")
@pytest.mark.parametrize(
    "other",
    [fail("values.differ", "strided-slice"), fail("values.differ", "values", "missing-scale")],
    ids=["other-case", "known-mistake"],
)
def test_case_names_a_mistake_only_where_nothing_else_fails(at, other):
    mistake, verdict, statement = SIGNS[at]
    assert name_seen(verdict, [verdict, other], statement) != mistake
    harmless = fail("divisibility.accepted", "indivisible-10-by-4")
    assert name_seen(verdict, [verdict, harmless], statement) == mistake


@pytest.mark.parametrize("at", SURE_RULES, ids=lambda at: f"{at}-{RULES[at].mistake}")
def test_rule_that_need_not_stand_alone_names_whatever_else_fails(at):
    mistake, verdict, _ = SIGNS[at]
    other = fail("values.differ", "values", "missing-scale")
    assert name_seen(verdict, [verdict, other]) == mistake
    elsewhere = ("values", "dropout-under-mask")
    case = next(case for case in elsewhere if not re.search(RULES[at].case, case))
    assert not RULES[at].fits(replace(verdict, case=case))


def test_overflow_of_exp_shows_wherever_scores_are_large():
    seen = [
        fail("values.not-finite", case)
        for case in ("hidden-however-large", "large-logits-float32", "float16-masked-scores")
    ]
    assert names(*seen)["large-logits-float32"] == "exp-overflow"
    assert names(*seen, fail("values.not-finite"))["large-logits-float32"] is None
    # Scores that are too large for float16 say nothing of an exp.
    overflow = names(fail("values.not-finite", "large-values-float16"))
    assert overflow["large-values-float16"] == "overflow-in-half"


def names(*verdicts):
    return {v.case: v.mistake for v in name_mistakes(EXERCISE, EXERCISE.contract, verdicts)}


def test_consequences_stand_under_a_structural_root():
    found = names(
        fail("values.differ", "values", "missing-scale"),
        fail("values.differ", "values-wide-heads"),
        fail("mask.hidden-leaks", "padding-hidden"),
        fail("dead.not-zero", "dead-rows-float64"),
        fail("dead.not-finite", "dead-rows-float32"),
        fail("dropout.slope", "dropout-gradients"),
        fail("divisibility.accepted", "indivisible-10-by-4"),
        fail("trouble.raised", "mask-none", text="boom"),
    )
    root = "missing-scale"
    assert found["values-wide-heads"] == found["padding-hidden"] == root
    assert found["dead-rows-float64"] == found["dropout-gradients"] == root
    # A NaN has nothing to do with a scale, nor has the constructor, nor an exception.
    assert found["dead-rows-float32"] == "nan-dead-rows"
    assert found["indivisible-10-by-4"] == "divisibility-unchecked"
    assert found["mask-none"] != root


def test_consequences_of_a_mask_stand_under_it():
    found = names(
        fail("values.differ", "causal-values", "mask-inverted"),
        fail("dead.not-finite", "dead-rows-float64"),
        fail("mask.future-leaks", "causal-future"),
        fail("gradient.differs", "gradients-masked"),
        fail("gradient.differs", "gradients-of-inputs"),
        fail("dropout.never-on", "dropout-in-training"),
    )
    root = "mask-inverted"
    assert found["dead-rows-float64"] == found["causal-future"] == root
    assert found["gradients-masked"] == root
    assert found["gradients-of-inputs"] is None
    assert found["dropout-in-training"] == "dropout-never-applied"


def test_nothing_is_named_where_nothing_failed():
    passed = Verdict("values", "scaling", Outcome.PASSED, 1.0, 1.0)
    followed = Message("followed", {"mistake": "missing-scale"})
    followed = Verdict("values", "scaling", Outcome.PASSED, 1.0, 1.0, followed)
    assert names(passed) == names(followed) == {"values": None}


def refuse(probe):
    return Observation(Status.RAISED)


def test_costliest_mistake_stands_first():
    bench = Bench(EXERCISE.contract, None, refuse, None, 1)
    verdicts = [
        fail("state.kept", "no-state", "state-kept", 2.0),
        fail("values.differ", "values", "missing-scale", 1.5),
        fail("values.differ", "other-sizes", None, 9.0),
        fail("values.differ", "values-wide-heads", "missing-scale", 1.5),
        fail("dead.uniform", "dead-rows-float64", "uniform-dead-rows", 1.0),
        Verdict("shapes", "shapes", Outcome.PASSED, 1.0, 1.0),
    ]
    found = diagnose(bench, EXERCISE, verdicts, walked=False)
    assert [(m.mistake, m.cases) for m in found.mistakes] == [
        ("missing-scale", ("values", "values-wide-heads")),
        ("state-kept", ("no-state",)),
        ("uniform-dead-rows", ("dead-rows-float64",)),
    ]
    assert (found.departures, found.walk) == ((), ())


def test_line_of_an_exception_is_the_line_of_its_mistake():
    bench = Bench(EXERCISE.contract, None, refuse, None, 1)
    raised = fail("trouble.raised", "mask-none", "mask-none-used", line=14, text="bad operand")
    verdicts = [fail("state.kept", "no-state", "mask-none-used"), raised]
    found = diagnose(bench, EXERCISE, verdicts, walked=False)
    assert found.mistakes[0].line == 14


def test_walk_of_a_right_file_names_its_lines(grade_source):
    found = grade_source(PLAIN, "self-attention").diagnosis
    assert (found.mistakes[1:], found.departures) == ((), ())
    strides = [(s.line, s.name, s.operation, s.shape, s.what) for s in found.walk]
    project, split, scores, softmax, merge = map(line_of, (PROJECT, SPLIT, SCALED, SOFTMAX, MERGE))
    for stride in (
        (project, "(q, k, v)", "linear", "[B, L, H*d]", "q"),
        (split, "(q, k, v)", "transpose", "[B, H, S, d]", "v"),
        (scores, "scores", "matmul", "[B, H, L, S]", "scores"),
        (scores, "scores", "div", "[B, H, L, S]", "scaled scores"),
        (softmax, "weights", "softmax", "[B, H, L, S]", "weights"),
        (merge, "output", "linear", "[B, L, D]", "output"),
    ):
        assert stride in strides
    assert [s.line for s in found.walk] == sorted(s.line for s in found.walk)


def test_walk_of_a_file_without_a_layout_has_shapes_in_numbers(grade_source):
    found = grade_source(UNKNOWN_LAYOUT, "self-attention")
    assert any(m.key == "convention.layout-unknown" for m in found.convention)
    assert found.diagnosis.departures == ()
    first = found.diagnosis.walk[0]
    line = 1 + UNKNOWN_LAYOUT[: UNKNOWN_LAYOUT.index("q, k = x @")].count("\n")
    assert (first.line, first.operation, first.shape) == (line, "matmul", "[2, 5, 18]")
    assert {stride.what for stride in found.diagnosis.walk} == {""}


def test_graded_file_gets_its_line_and_its_sentence(grade_source):
    source = PLAIN.replace(" / math.sqrt(q.shape[-1])", "")
    found = grade_source(source, "self-attention").diagnosis
    scale = found.mistakes[0]
    assert (scale.mistake, scale.line) == ("missing-scale", line_of(SOFTMAX))
    departure = next(d for d in found.departures if d.case in scale.cases)
    assert departure.message.key == "departure.unscaled"


def test_departure_is_shown_at_sizes_that_tell_axes_apart(grade_source):
    source = PLAIN.replace(SPLIT, "t.reshape(len(t), self.h, t.shape[1], -1) for t")
    found = grade_source(source, "self-attention").diagnosis
    assert found.mistakes[0].mistake == "split-without-transpose"
    # The case of one number a head comes first, and its axes would be [B, H*L, H*L, 1].
    departure = found.departures[0]
    assert (departure.case, departure.line) == ("values", line_of(SPLIT))
    assert departure.message.fields["got"] == "[B, H*L, H*L, d]"


def test_second_mistake_gets_a_line_of_its_own(grade_source):
    """The first is taken as meant where another area pays for it."""
    source = PLAIN.replace("/ math.sqrt(q.shape[-1])", "/ q.shape[-1]")
    source = source.replace('float("-inf")', "-1e9").replace(SOFTMAX, "scores.softmax(-1)")
    found = grade_source(source, "self-attention").diagnosis
    lines = {mistake.mistake: mistake.line for mistake in found.mistakes}
    assert lines["scale-by-head-dim"] == line_of(SCALED)
    assert lines["uniform-dead-rows"] == line_of(SOFTMAX)


FORMS = {"inner": Message("values.differ"), "axes": "b q k"}


@pytest.mark.parametrize(
    ("inner", "mistake"),
    [("trouble.raised", "mask-form-refused"), ("values.differ", "mask-form-misread")],
)
def test_mask_of_some_form_is_refused_or_misread(inner, mistake):
    verdict = fail("mask.form", "mask-forms", inner=Message(inner))
    assert name_seen(verdict, [verdict]) == mistake


def test_check_that_some_sizes_pass_is_incomplete():
    drawn = fail("divisibility.only-in-forward", "indivisible-drawn")
    passed = Verdict("indivisible-10-by-4", "divisibility", Outcome.PASSED, 1.0, 1.0)
    assert names(drawn, passed)["indivisible-drawn"] == "divisibility-check-incomplete"
    assert names(drawn)["indivisible-drawn"] == "divisibility-checked-late"


def passing(*cases):
    return [Verdict(case, AREAS[case], Outcome.PASSED, 1.0, 1.0) for case in cases]


def test_failures_at_one_sample_only_are_a_lost_batch_axis():
    alone = fail("shape.differs", "values-batch-of-one")
    assert names(alone, *passing("values", "other-sizes"))["values-batch-of-one"] == (
        "batch-squeezed"
    )
    with_others = [alone, fail("values.differ", "values"), *passing("other-sizes")]
    assert names(*with_others)["values-batch-of-one"] is None


def test_failures_beyond_a_length_are_a_limit():
    raised = fail("trouble.raised", "long-sequence", text="The size of tensor a must match")
    others = passing("values", "values-batch-of-one", "other-sizes", "one-head")
    assert names(raised, *others)["long-sequence"] == "length-limited"


@pytest.mark.parametrize(
    ("root", "other", "key"),
    [
        ("state.stays-behind", "trouble.raised", "tensor-left-behind"),
        ("gradient.missing", "dropout.slope", "gradient-cut"),
        ("state.kept", "mask.future-leaks", "state-kept"),
        ("dropout.elsewhere", "dropout.not-finite", "dropout-misplaced"),
        ("dropout.elsewhere", "dropout.returned", "dropout-misplaced"),
    ],
)
def test_what_follows_stands_under_its_root(root, other, key):
    first = fail(root, "registered")
    second = fail(other, "bfloat16-module", text="expected scalar type Float but found Half")
    assert set(names(first, second).values()) == {key}


@pytest.mark.parametrize("key", ["uniform", "not-zero"])
def test_rows_dead_in_some_heads_are_as_those_in_all(key):
    first = fail(f"dead.{key}", "dead-rows-float64")
    some = fail("values.differ", "dead-rows-in-some-heads")
    found = names(first, some, fail("values.differ", "mask-forms"))
    assert found["dead-rows-in-some-heads"] == found["dead-rows-float64"]
    assert found["mask-forms"] is None


@pytest.mark.parametrize("root", ["softmax-over-queries", "softmax-over-heads"])
def test_softmax_over_what_is_all_hidden_gives_nan(root):
    first = fail("values.differ", "values", root)
    nan = fail("values.not-finite", "padding-values")
    found = names(first, nan, fail("values.differ", "mask-long"))
    assert (found["padding-values"], found["mask-long"]) == (root, None)


def test_what_is_raised_twice_has_one_cause():
    raised = {"phase": "forward", "type": "RuntimeError", "line": 23, "text": "shape is invalid"}
    inner = Message("trouble.raised", raised)
    first = fail("shape.lengths", "shapes", inner=inner)
    again = fail("trouble.raised", "registered", **raised)
    elsewhere = fail("trouble.raised", "values", **{**raised, "line": 24})
    found = names(first, again, elsewhere)
    assert found["registered"] == "wrong-cross-length"
    assert found["values"] is None
