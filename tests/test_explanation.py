"""Mistakes by their values: confirmed on further problems, and told apart where they can be."""

from pathlib import Path

import numpy as np
import pytest
from sources import SCALED, attention, swap

from grader.definition import CORRECT, Steps
from grader.mistakes import CATALOGUE, combine
from grader.mistakes.mistake import Mistake
from grader.model import Contract

SELF = "self-attention"
FILL = 'scores.masked_fill(~mask, float("-inf"))'
SOFTMAX = "scores.softmax(-1).nan_to_num(0.0)"


def named(report):
    return {m.mistake: m.alternatives for m in report.diagnosis.mistakes}


def test_sixty_single_mistakes_are_known():
    assert len(CATALOGUE) >= 60
    steps = [way.steps for mistake in CATALOGUE.values() for way in mistake.ways()]
    assert all(set(one) <= set(Steps.__dataclass_fields__) for one in steps)
    assert all(combine([m]) != CORRECT for m in CATALOGUE.values())


@pytest.mark.parametrize("new", ["scores * mask", FILL.replace('float("-inf")', "0.0")])
def test_mistakes_that_nothing_tells_apart_are_named_together(new, grade_source):
    report = grade_source(swap((FILL, new), (SOFTMAX, "scores.softmax(-1)")), SELF)
    assert named(report)["mask-filled-with-zero"] == ("mask-multiplied",)


def test_mistakes_that_a_further_problem_tells_apart_stand_alone(grade_source):
    """Where a row sees everything, one hides all of it and the other nothing."""
    inverted = grade_source(swap((FILL, FILL.replace("~mask", "mask"))), SELF)
    assert named(inverted)["mask-inverted"] == ()
    largest = grade_source(
        swap((FILL, FILL.replace('float("-inf")', "1e9")), (SOFTMAX, "scores.softmax(-1)")), SELF
    )
    assert named(largest)["mask-filled-with-plus"] == ()


def test_mistake_that_only_sometimes_happens_is_not_named_as_always(grade_source):
    """One mask alone fits many things; without one, and under another, it has to fit as well."""
    source = swap((SCALED, SCALED + " * (1.5 if mask is not None and mask.dim() == 4 else 1.0)"))
    assert not set(named(grade_source(source, SELF))) & set(CATALOGUE)


def test_two_mistakes_at_once_are_both_named(grade_source):
    source = swap(("/ math.sqrt(q.shape[-1])", ""), ("self.v(value)", "self.k(value)"))
    assert {"missing-scale", "key-used-as-value"} <= set(named(grade_source(source, SELF)))


def test_pair_is_tried_in_each_way_of_its_mistakes(grade_source):
    """Of the orders in which a merge goes wrong this is the second."""
    merge = ("transpose(1, 2).flatten(2)", "permute(0, 3, 1, 2).reshape(query.shape)")
    source = swap(("/ math.sqrt(q.shape[-1])", ""), merge)
    wanted = {"missing-scale", "merge-over-wrong-axes"}
    assert wanted <= set(named(grade_source(source, SELF)))


TRIPLE = (
    ("/ math.sqrt(q.shape[-1])", ""),
    ("self.q(query), self.k(key)", "self.q(query), self.q(key)"),
    ("        output = self.o(", "        output = x + self.o("),
)


@pytest.mark.parametrize("exercise", [SELF, None])
def test_three_mistakes_are_named_where_one_token_shows_one(grade_source, exercise):
    wanted = {"missing-scale", "query-used-as-key", "residual-inside"}
    # A residual is no mistake in a file that names no exercise.
    found = set(named(grade_source(swap(*TRIPLE), exercise)))
    assert found >= wanted if exercise else {"missing-scale", "query-used-as-key"}


def test_two_mistakes_are_named_in_a_file_of_its_own_kind(grade_source):
    matrices = swap(("/ math.sqrt(q.shape[-1])", ""), ("self.v(value)", "self.k(value)"))
    linears = "(nn.Linear(d, d) for _ in range(4))"
    turned = "[nn.Parameter(torch.randn(d, d)) for _ in range(4)]"
    matrices = matrices.replace(linears, turned).replace("self.o(", "torch.matmul(")
    for name in "qk":
        matrices = matrices.replace(f"self.{name}(", f"(lambda x: x @ self.{name})(")
    matrices = matrices.replace("flatten(2))", "flatten(2), self.o)")
    assert {"missing-scale", "key-used-as-value"} <= set(named(grade_source(matrices)))


FUSED = (
    ("self.q, self.k, self.v, self.o = (nn.Linear(d, d) for _ in range(4))", ""),
    ("self.q(query), self.k(key), self.v(value)", "self.qkv(x).chunk(3, -1)"),
)


@pytest.mark.parametrize(
    ("pair", "mistake"),
    [
        (("(weights @ v)", "(weights.mT @ v)"), "weights-transposed"),
        (("scores.softmax(-1)", "scores.softmax(-2)"), "softmax-over-queries"),
    ],
)
def test_mask_tells_which_of_two_parameters_makes_the_queries(grade_source, pair, mistake):
    """Without one, weights that are turned are a softmax over the queries, k and q exchanged."""
    (linears, _), chunk = FUSED
    layers = "self.qkv, self.o = nn.Linear(d, 3 * d), nn.Linear(d, d)"
    report = grade_source(swap((linears, layers), chunk, pair), SELF)
    assert mistake in named(report)
    places = [m.fields for m in report.convention if m.key == "convention.place"]
    assert [place["where"].endswith(f"f = {at}") for at, place in enumerate(places[:3])] == [
        True
    ] * 3


@pytest.mark.parametrize(
    ("fill", "mistake"),
    [("0.0", "mask-filled-with-zero"), ("-10.0", "mask-filled-with-minus-ten")],
)
def test_fill_is_named_though_hidden_weights_are_zeroed_later(grade_source, fill, mistake):
    softmax = "scores.softmax(-1) * (1 if mask is None else mask)"
    source = swap((FILL, FILL.replace('float("-inf")', fill)), (SOFTMAX, softmax))
    assert mistake in named(grade_source(source, SELF))


@pytest.mark.parametrize("compared", ["<= lengths[:, None]", "< lengths[:, None] - 1"])
def test_length_that_is_off_by_one_is_a_mask_that_is(grade_source, compared):
    shown = f"shown = torch.arange(scores.shape[-1]) {compared}"
    mask = f"if lengths is not None:\n    {shown}\n"
    mask += '    scores = scores.masked_fill(~shown[:, None, None], float("-inf"))'
    source = attention(forward="x, lengths=None", mask=mask)
    report = grade_source(source)
    assert "mask-shifted" in named(report)
    line = 1 + source[: source.index("shown = ")].count("\n")
    assert [m.line for m in report.diagnosis.mistakes if m.mistake == "mask-shifted"] == [line]


def test_empty_rows_of_a_wrong_mask_may_be_anything(grade_source):
    for ending in (SOFTMAX, "scores.softmax(-1)"):
        source = swap((FILL, FILL.replace("~mask", "mask")), (SOFTMAX, ending))
        assert "mask-inverted" in named(grade_source(source, SELF))


@pytest.mark.parametrize(
    ("limits", "contract", "fits"),
    [
        ({"causal": True}, Contract(("x",), "attention", False), False),
        ({"inputs": 2}, Contract(("x",), "attention", False), False),
        ({"inputs": 2}, Contract(("q", "k", "v"), "attention", False), True),
        ({"square": True}, Contract(("q", "k", "v"), "attention", False), False),
        ({"square": True}, Contract(("q", "k"), "attention", False, one_length=True), True),
        ({"per_head": True}, Contract(("x",), "padding", True), False),
    ],
)
def test_mistake_needs_what_it_is_about(limits, contract, fits):
    assert Mistake("some-mistake", (), {}, **limits).can_be_made(contract) == fits


def test_steps_that_do_not_fit_the_sizes_give_nan(draw_problem):
    made = combine([CATALOGUE["attention-over-heads"]])
    assert np.isnan(draw_problem(q_len=5, kv_len=7).expect(made).output).all()
    assert np.isfinite(draw_problem(q_len=5, kv_len=5).expect(made).output).all()


@pytest.fixture
def draw_problem():
    from grader.bank.draw import draw, generator
    from grader.bank.masks import Sizes

    def draw_one(**lengths):
        contract = Contract(("query", "key", "value"), "attention", False)
        return draw(generator(1, "drawn"), contract, Sizes(**lengths), frozenset())

    return draw_one


def test_mistakes_of_masks_are_no_alternatives_where_no_mask_told_them_apart(grade_source):
    path = Path(__file__).parent / "submissions" / "wrong" / "free_unfold_padding_on_queries.py"
    first = grade_source(path.read_text()).diagnosis.mistakes[0]
    assert first.mistake == "padding-on-query-axis"
    assert first.alternatives == ()
