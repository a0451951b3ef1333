"""The line at which a file leaves the way of a right attention, on small files that were run."""

import numpy as np
import pytest
import torch
from sources import (
    MERGE,
    PLAIN,
    PROJECT,
    SCALED,
    SOFTMAX,
    SPLIT,
    STYLES,
    attention,
    line_of,
)
from test_recognise import RANDOM

from grader.bank.bench import Bench
from grader.grading import Request, find
from grader.model import Status
from grader.trace import find_departure, find_not_finite, walk
from grader.worker.trace import Recorder

EXERCISE = "self-attention"
DEAD = {"kind": "dead", "form": "b 1 q k"}


def swap(old, new):
    """The plain file with one thing changed, and the number of that line."""
    assert PLAIN.count(old) == 1
    line = PLAIN[: PLAIN.index(old)].count("\n") + 1
    return PLAIN.replace(old, new), line


@pytest.fixture
def trace(open_session):
    """Source and mask -> (steps, problem, what was returned), through the sandbox.

    Called as the file `like` is, if that is given: of a wrong file less may be found out.
    """

    def trace_one(source, mask=None, like=None):
        session, model = open_session(source), open_session(like or source)
        way = find(model, model.load(), Request(1, EXERCISE), EXERCISE)
        assert way.match.layout is not None
        if like:
            session.load()
        run = session.run if like else model.run
        bench = Bench(way.contract, way.plan, run, way.match.layout, 1)
        problem = bench.draw("traced", mask=mask)
        seen = bench.run(bench.probe(problem, trace=True))
        assert seen.status is Status.OK
        return seen.trace, problem, bench.answer(seen)

    return trace_one


@pytest.fixture
def departs(trace):
    """Source and mask -> the departure found, if any."""

    def look(source, mask=None):
        steps, problem, answer = trace(source, mask)
        return find_departure(steps, problem, 1, answer.output)

    return look


# A softmax that is written out.
BY_HAND = "(exps := (scores - scores.amax(-1, True)).exp()) / exps.sum(-1, keepdim=True)"

# What is changed, the line of the departure (None is the changed one), key and fields.
DEPARTURES = {
    "missing-scale": (
        (SCALED, "scores = q @ k.mT"),
        SOFTMAX,
        "unscaled",
        {"operation": "softmax", "name": "weights", "scores": line_of(SCALED)},
    ),
    "scale-on-both": (
        (
            SCALED,
            "q, k = q / math.sqrt(q.shape[-1]), k / math.sqrt(k.shape[-1]); scores = q @ k.mT",
        ),
        None,
        "scaled-twice",
        {"what": "k", "other": "q", "made": line_of(SCALED)},
    ),
    "scale-on-one-and-scores": (
        (SCALED, "q = q / math.sqrt(q.shape[-1]); " + SCALED),
        None,
        "scaled-twice",
        {"what": "q @ k", "other": "q", "made": line_of(SCALED)},
    ),
    "floored-scale": (
        (SCALED, "scores = q @ k.mT / int(math.sqrt(q.shape[-1]))"),
        None,
        "from",
        {"operation": "div", "sources": "scores"},
    ),
    "softmax-over-queries": (
        ("scores.softmax(-1)", "scores.softmax(-2)"),
        None,
        "softmax-axis",
        {"got": "[L]", "shape": "[B, H, L, S]"},
    ),
    "softmax-over-heads": (
        ("scores.softmax(-1)", "scores.softmax(1)"),
        None,
        "softmax-axis",
        {"got": "[H]", "shape": "[B, H, L, S]"},
    ),
    "double-softmax": (
        ("scores.softmax(-1)", "scores.softmax(-1).softmax(-1)"),
        None,
        "softmax",
        {"operation": "softmax", "name": "weights"},
    ),
    "sigmoid": (
        ("scores.softmax(-1)", "scores.sigmoid()"),
        None,
        "from",
        {"operation": "sigmoid", "sources": "scaled scores"},
    ),
    "view-without-transpose": (
        (SPLIT, "t.reshape(len(t), self.h, t.shape[1], -1) for t"),
        None,
        "scrambled",
        {"operation": "reshape", "what": "q", "got": "[B, H*L, H*L, d]"},
    ),
    "merge-without-transpose": (
        (MERGE, "self.o((weights @ v).reshape(*x.shape))"),
        None,
        "scrambled",
        {"what": "context", "got": "[B, H*L, H*L*d]", "expected": "[B, H, L, d]"},
    ),
    "query-as-key": (
        (PROJECT, "self.q(query), self.q(key), self.v(value)"),
        None,
        "operand",
        {"got": "q", "expected": "k", "line": line_of(SCALED), "made": line_of(PROJECT)},
    ),
    "key-as-value": (
        (PROJECT, "self.q(query), self.k(key), self.k(value)"),
        None,
        "operand",
        {"got": "k", "expected": "v", "line": line_of(MERGE), "made": line_of(PROJECT)},
    ),
    "value-projection-not-applied": (
        (PROJECT, "self.q(query), self.k(key), value"),
        SPLIT,
        "operand",
        {"got": "x", "expected": "v", "line": line_of(MERGE), "made": line_of(SPLIT)},
    ),
    "query-projection-not-applied": (
        (PROJECT, "query, self.k(key), self.v(value)"),
        SPLIT,
        "operand",
        {"got": "x", "expected": "q", "line": line_of(SCALED)},
    ),
    "sum-over-queries": (
        (SOFTMAX, BY_HAND.replace("exps.sum(-1", "exps.sum(-2")),
        None,
        "from",
        {"operation": "sum", "sources": "exponentials"},
    ),
    "context-too-large": (
        (MERGE, "self.o((torch.zeros_like(q) + 1.5 * (weights @ v)).transpose(1, 2).flatten(2))"),
        None,
        "from",
        {"operation": "mul", "sources": "context"},
    ),
    "no-softmax": (
        ("scores.softmax(-1)", "scores"),
        SCALED,
        "operand",
        {"got": "scaled scores", "expected": "weights", "line": line_of(MERGE)},
    ),
    "output-projection-not-applied": (
        (MERGE, "(weights @ v).transpose(1, 2).flatten(2)"),
        None,
        "stops-early",
        {"what": "context"},
    ),
}


@pytest.mark.parametrize("name", DEPARTURES)
def test_departure_has_its_line_and_sentence(name, departs):
    (old, new), where, key, fields = DEPARTURES[name]
    source, changed = swap(old, new)
    line = changed if where is None else line_of(where)
    found = departs(source)
    assert found is not None
    assert (found.message.key, found.line) == (f"departure.{key}", line)
    wanted = {"line": line, **fields}
    assert {name: found.message.fields.get(name) for name in wanted} == wanted


@pytest.mark.parametrize(
    ("condition", "shown"), [("mask", None), ("~mask.mT", None), ("~mask[:1]", 1)]
)
def test_wrong_mask_is_found_where_it_is_put_in(condition, shown, departs):
    source, line = swap("scores.masked_fill(~mask", f"scores.masked_fill({condition}")
    found = departs(source, RANDOM)
    assert (found.message.key, found.line) == ("departure.mask", line)
    fields = found.message.fields
    assert fields["operation"] == "masked_fill"
    assert fields["shown"] > 0
    assert fields["hidden"] > 0
    # The first sample is right where only its mask is used.
    assert fields["first"].startswith(f"[{shown or 0}, ")


def test_mask_without_effect_is_found_at_the_softmax(departs):
    source, _ = swap("scores.masked_fill(~mask", "scores.masked_fill(~mask & False")
    found = departs(source, RANDOM)
    assert (found.message.key, found.line) == ("departure.softmax", line_of(SOFTMAX))


@pytest.mark.parametrize("mask", [None, RANDOM, DEAD])
def test_right_file_has_no_departure(mask, departs):
    assert departs(PLAIN, mask) is None


@pytest.mark.parametrize("mask", [None, RANDOM])
def test_softmax_by_hand_is_recognised_all_the_way(mask, trace):
    source, line = swap(SOFTMAX, BY_HAND)
    steps, problem, answer = trace(source, mask)
    assert find_departure(steps, problem, 1, answer.output) is None
    walked = {s.operation: s.what for s in walk(steps, problem, 1) if s.line == line}
    assert walked == {
        "amax": "",
        "sub": "shifted scores",
        "exp": "exponentials",
        "sum": "",
        "div": "weights",
    }


NAMES = {"x", "scaled scores", "weights", "context", "output"}


@pytest.mark.parametrize("style", STYLES)
def test_right_file_of_any_style_is_recognised_all_the_way(style, trace):
    steps, problem, answer = trace(STYLES[style], RANDOM)
    assert find_departure(steps, problem, 1, answer.output) is None
    assert find_not_finite(steps, answer) is None
    strides = walk(steps, problem, 1)
    assert NAMES - {"x"} <= {stride.what for stride in strides}
    # Three projections in one are no landmark, their parts are.
    unnamed = [stride.operation for stride in strides if not stride.what]
    assert unnamed == (["linear"] if style == "fused" else [])


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(
    ("old", "new", "where"),
    [
        ("scores.softmax(-1)", "(scores * 1.5).softmax(-1)", "weights = "),
        ("scores.softmax(-1)", "scores.softmax(-2)", "weights = "),
        ("        return output, ", "        output = output * 1.5\n        return output, ", None),
    ],
    ids=["scores", "axis", "end"],
)
def test_departure_of_any_style_has_its_line(style, old, new, where, trace):
    right = STYLES[style]
    wrong = right.replace(old, new)
    assert wrong != right
    line = 1 + wrong[: wrong.index(where or "output = output * 1.5")].count("\n")
    steps, problem, answer = trace(wrong, None, like=right)
    assert find_departure(steps, problem, 1, answer.output).line == line


def test_product_of_three_needs_no_name_for_the_wrong_one(trace):
    source = PLAIN.replace("weights @ v", "torch.einsum('bhld,bhsd,bhse->bhle', q, k, v)")
    steps, problem, answer = trace(source, None, like=PLAIN)
    found = find_departure(steps, problem, 1, answer.output)
    assert (found.message.key, found.line) == ("departure.from", line_of(MERGE))
    assert found.message.fields["sources"] == "q, k, v"


def test_steps_of_an_earlier_call_are_no_source(trace):
    """What the module kept from there has no number in the later call."""
    recorder = Recorder("<string>", {"parameter w": torch.ones(2)})
    code = compile("a = x * 2\nb = a + kept\nc = b * 3", "<string>", "exec")
    kept = torch.ones(2)
    for _ in range(2):
        scope = {"x": torch.ones(2), "kept": kept}
        recorder.begin([scope["x"]])
        with recorder:
            exec(code, scope)
        kept = scope["c"]
    assert [step[3] for step in recorder.steps] == [["input 0"], ["0"], ["1"]]


def test_first_nan_is_found(trace):
    source, line = swap(SOFTMAX, "scores.softmax(-1)")
    steps, _, answer = trace(source, DEAD)
    found = find_not_finite(steps, answer)
    assert (found.message.key, found.line) == ("departure.not-finite", line)
    assert found.message.fields == {"operation": "softmax", "name": "weights", "line": line}


def test_nan_that_is_cleaned_away_is_no_departure(trace):
    steps, _, answer = trace(PLAIN, DEAD)
    assert any(np.isnan(step.value).any() for step in steps if step.value is not None)
    assert find_not_finite(steps, answer) is None


IN_BLOCKS = """
top = {full}
total, summed = {zeros}, {zeros}
for keys, values in zip(k.split(2, 2), v.split(2, 2)):
    part = {scores}
    new = torch.maximum(top, part.amax(-1, keepdim=True))
    share = (part - new).exp()
    total = total * (top - new).exp() + share.sum(-1, keepdim=True)
    summed = summed * (top - new).exp() + share @ values
    top = new
"""
MADE = [
    ("q.new_full(q.shape[:3] + (1,), -1e30)", "q.new_zeros(q.shape[:3] + (1,))"),
    ("torch.full(q.shape[:3] + (1,), -1e30)", "torch.zeros(q.shape[:3] + (1,))"),
    ("torch.full_like(q[..., :1], -1e30)", "torch.zeros_like(q[..., :1])"),
    ("torch.ones(q.shape[:3] + (1,)) * -1e30", "torch.empty(q.shape[:3] + (1,)).fill_(0)"),
]
SCORES = "q @ keys.mT / math.sqrt(q.shape[-1])"


@pytest.mark.parametrize(("full", "zeros"), MADE)
@pytest.mark.parametrize("wrong", [None, "q * 0.3 @ keys.mT"])
def test_what_a_softmax_in_blocks_begins_with_is_no_departure(full, zeros, wrong, trace):
    def write(scores):
        blocks = IN_BLOCKS.format(full=full, zeros=zeros, scores=scores)
        source = attention(mask=blocks, softmax="None", forward="x, mask=None")
        source = source.replace("(weights @ v)", "(summed / total)")
        return source.replace("        scores = q @ k.mT / math.sqrt(q.shape[-1])\n", "")

    source = write(wrong or SCORES)
    steps, problem, answer = trace(source, None, like=write(SCORES))
    found = find_departure(steps, problem, 1, answer.output)
    line = 1 + source[: source.index("part = ")].count("\n")
    assert (found and found.line) == (wrong and line)


def test_what_a_helper_makes_is_wrong_where_it_is_taken(grade_source):
    """Not in the line that makes the others too."""
    helper = (
        "make = lambda i: [self.q, self.k, self.v][i](x)\n        q, k, v = make(0), make(1), None"
    )
    source = PLAIN.replace(f"q, k, v = {PROJECT}", helper)
    split = "q, k = (t.unflatten(-1, (self.h, -1)).transpose(1, 2) for t in (q, k))"
    source = source.replace(f"q, k, v = ({SPLIT} in (q, k, v))", split)
    again = "make(1).unflatten(-1, (self.h, -1)).transpose(1, 2)"
    source = source.replace("(weights @ v)", f"(weights @ {again})")
    found = grade_source(source, EXERCISE).diagnosis
    line = 1 + source[: source.index("output = ")].count("\n")
    first = found.mistakes[0]
    assert (first.mistake, first.line) == ("key-used-as-value", line)
    assert found.departures[0].message.fields["made"] == line
