"""Traces that are made up: what does not fit is refused, and the rest does no harm."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_recognise import KNOWN, PROBLEM, TRUTH

from grader.errors import ProtocolError
from grader.model import Step
from grader.sandbox import claims
from grader.trace import find_departure, find_not_finite, walk
from grader.worker.protocol import Blob

STEP = ["add", 3, "x", ["input 0"], [2], 0]
NUMBERS = Blob("float64", (2,), np.arange(2.0).tobytes())
LARGE = Blob("float64", (5000,), np.arange(5000.0).tobytes())


def read(*steps, blob=NUMBERS):
    return claims.read_observation({"status": "ok", "trace": list(steps)}, [blob]).trace


def test_claimed_trace_is_read():
    (first, second) = read(STEP, ["mul", 4, "y", ["0", "parameter w"], [2], None])
    assert (first.operation, first.line, first.name, first.shape) == ("add", 3, "x", (2,))
    assert first.value.tolist() == [0.0, 1.0]
    assert (second.sources, second.value) == (("0", "parameter w"), None)


@pytest.mark.parametrize(
    "step",
    [
        "x",
        None,
        STEP[:5],
        [*STEP, 1],
        ["add", -1, "x", [], [2], 0],
        ["add", 3.0, "x", [], [2], 0],
        ["add", True, "x", [], [2], 0],
        ["add", 10**12, "x", [], [2], 0],
        ["add", 3, "x", None, [2], 0],
        ["add", 3, "x", [], 2, 0],
        ["add", 3, "x", [], [-2], 0],
        ["add", 3, "x", [], ["2"], 0],
        ["add", 3, "x", [], [10**30], None],
        ["add", 3, "x", [], [1] * 1000, None],
        ["add", 3, "x", [], [3], 0],
        ["add", 3, "x", [], [2], 1],
        ["add", 3, "x", [], [2], -1],
        ["add", 3, "x", [], [2], 0.0],
        ["add", 3, "x", ["0"], [2], 0],
        ["add", 3, "x", ["99999"], [2], 0],
        ["add", 3, "x", ["9" * 190], [2], 0],
    ],
    ids=lambda step: str(step)[:40],
)
def test_wrong_step_is_refused(step):
    with pytest.raises(ProtocolError):
        read(step)


def test_too_many_steps_are_refused():
    assert len(read(*[STEP] * 600)) == 600
    with pytest.raises(ProtocolError):
        read(*[STEP] * 601)


def test_large_value_is_refused():
    """Looked up among all landmarks, six hundred times over, it would hold up the grader."""
    with pytest.raises(ProtocolError):
        read(["add", 3, "x", [], [5000], 0], blob=LARGE)


def test_hostile_names_are_made_plain():
    (step,) = read(["a\x1b[2J" * 50, 3, "\u202e" * 5, ["\x00" * 900] * 20, [2], 0])
    assert len(step.operation) < 200
    assert "\x1b" not in step.operation
    assert "\u202e" not in step.name
    assert len(step.sources) == 8


# Sources that no step has, arrays that no softmax makes: whatever a worker may claim.
CLAIMED = st.lists(
    st.builds(
        Step,
        operation=st.sampled_from(["softmax", "matmul", "einsum", "add", ""]),
        line=st.integers(0, 9),
        name=st.just("a"),
        sources=st.lists(st.sampled_from(["input 0", "input 9", "0", "1", "2", "x"])).map(tuple),
        shape=st.just((2,)),
        value=st.sampled_from(
            [None, *(one.value for one in KNOWN), TRUTH.raw[None], TRUTH.v + 1.0, np.zeros(9)]
        ),
    ),
    max_size=6,
)


def test_softmax_of_another_shape_is_read():
    value = np.full((1, *TRUTH.raw.shape, 1), 1.0)
    steps = [
        Step("matmul", 1, "s", ("input 0",), TRUTH.raw.shape, TRUTH.raw),
        Step("softmax", 2, "w", ("0",), value.shape, value / 5),
    ]
    assert find_departure(steps, PROBLEM, 1, None).line == 2


@settings(max_examples=300)
@given(steps=CLAIMED, output=st.sampled_from([None, TRUTH.output, TRUTH.context]))
def test_any_claim_is_read_without_complaint(steps, output):
    steps = [
        step._replace(sources=tuple(s for s in step.sources if not s.isdecimal() or int(s) < at))
        for at, step in enumerate(steps)
    ]
    find_departure(steps, PROBLEM, 1, output)
    find_not_finite(steps, (output,))
    assert len(walk(steps, PROBLEM, 1)) <= len(steps)
