"""Tensors recognised by their values, up to slices, turns and folds of their axes."""

import numpy as np
import pytest

from grader.bank import load_exercise
from grader.bank.draw import draw
from grader.bank.masks import Sizes
from grader.trace import recognise
from grader.trace.landmarks import landmarks
from grader.trace.words import in_letters, write_shape

CONTRACT = load_exercise("self-attention").contract
RANDOM = {"kind": "random", "form": "b 1 q k"}
# Every size differs, so that an axis cannot be taken for another.
SIZES = Sizes(2, 5, 5, 18, 3)


def pose(mask=None):
    """A problem with biases, as the bank would draw it."""
    biases = frozenset(("bq", "bk", "bv", "bo"))
    return draw(np.random.default_rng(3), CONTRACT, SIZES, biases, mask=mask)


PROBLEM = pose()
KNOWN = landmarks(PROBLEM)
TRUTH = PROBLEM.truth


def look_at(value, problem=PROBLEM):
    return recognise(value, landmarks(problem), problem)


@pytest.mark.parametrize("landmark", KNOWN, ids=lambda landmark: landmark.name)
def test_landmark_is_recognised_as_it_stands(landmark):
    found = look_at(landmark.value)
    assert found.landmark.name == landmark.name
    assert found.letters == tuple(landmark.axes)
    assert found.is_clean
    assert not found.masked


@pytest.mark.parametrize(
    ("change", "name", "letters"),
    [
        (lambda t: t.q.transpose(0, 2, 1, 3), "q", ("B", "L", "H", "d")),
        (lambda t: t.q.transpose(0, 2, 1, 3).reshape(2, 5, 18), "q", ("B", "L", "Hd")),
        (lambda t: t.k.reshape(6, 5, 6), "k", ("BH", "S", "d")),
        (lambda t: t.k.swapaxes(2, 3), "k", ("B", "H", "d", "S")),
        (lambda t: t.v[:, 1], "v", ("B", "S", "d")),
        (lambda t: t.v[:1, :, :, None], "v", ("", "H", "S", "", "d")),
        (lambda t: t.raw / np.sqrt(6), "scaled scores", ("B", "H", "L", "S")),
        (lambda t: t.q / 6**0.25, "q half scaled", ("B", "H", "L", "d")),
        (lambda t: t.weights[0, 2], "weights", ("L", "S")),
        (lambda t: t.merged, "context", ("B", "L", "Hd")),
        (lambda t: t.output.reshape(10, 18), "output", ("BL", "D")),
    ],
)
def test_turned_and_folded_tensor_is_recognised(change, name, letters):
    found = look_at(change(TRUTH))
    assert (found.landmark.name, found.letters, found.scrambled) == (name, letters, ())


def test_rounding_of_float32_is_recognised_nowhere_near_another_scale():
    assert look_at(TRUTH.raw * (1 + 1e-8)).landmark.name == "scores"
    assert look_at(TRUTH.raw * 1.01) is None


@pytest.mark.parametrize(
    "value",
    [
        None,
        np.arange(30),
        np.ones((2, 5), dtype=bool),
        TRUTH.q.reshape(-1)[:7],
        np.where(np.arange(5) == 1, np.nan, TRUTH.raw),
        np.where(np.arange(6) == 1, -np.inf, TRUTH.v),
        TRUTH.raw + 1.0,
        np.zeros((3, 0)),
    ],
    ids=["none", "whole", "bool", "few", "nan", "infinite-values", "other", "empty"],
)
def test_what_is_no_landmark_is_not_recognised(value):
    assert look_at(value) is None


def test_wrong_view_is_scrambled():
    found = look_at(TRUTH.q.transpose(0, 2, 1, 3).reshape(2, 3, 5, 6))
    assert found.landmark.name == "q"
    assert found.scrambled == ("H", "L")
    assert found.letters == ("B", "HL", "HL", "d")
    assert not found.is_clean


def test_axis_cut_in_two_is_not_scrambled():
    found = look_at(PROBLEM.inputs[0].reshape(2, 5, 3, 6))
    assert (found.landmark.name, found.letters) == ("x", ("B", "L", "D", "D"))
    assert found.is_clean


@pytest.mark.parametrize("fill", [-np.inf, -1e9, np.finfo(np.float32).min])
def test_right_mask_is_clean(fill):
    problem = pose(RANDOM)
    found = look_at(np.where(problem.visible, problem.truth.scaled, fill), problem)
    assert found.landmark.name == "scaled scores"
    assert found.masked
    assert found.is_clean


@pytest.mark.parametrize("fill", [0.0, 1.0, -1e9])
def test_one_number_in_rows_that_see_nothing_is_clean(fill):
    problem = pose({"kind": "dead", "form": "b 1 q k"})
    dead = ~problem.visible.any(axis=-1, keepdims=True)
    scores = np.where(problem.visible, problem.truth.scaled, -np.inf)
    found = look_at(np.where(dead, fill, scores).reshape(6, 5, 5), problem)
    assert found.landmark.name == "scaled scores"
    assert found.is_clean
    uneven = np.where(dead, np.arange(5.0), scores)
    assert look_at(uneven, problem) is None


def test_fill_of_the_wrong_sign_is_no_mask():
    problem = pose(RANDOM)
    assert look_at(np.where(problem.visible, problem.truth.scaled, 1e9), problem) is None


def test_wrong_mask_tells_both_kinds_of_places():
    problem = pose(RANDOM)
    visible = problem.visible.copy()
    shown = tuple(int(i) for i in np.argwhere(~visible)[0])
    hidden = tuple(int(i) for i in np.argwhere(visible)[0])
    visible[shown], visible[hidden] = True, False
    found = look_at(np.where(visible, problem.truth.scaled, -np.inf), problem)
    assert (found.shown, found.hidden) == ((shown,), (hidden,))
    assert not found.is_clean


def test_ties_of_a_causal_row_scramble_nothing():
    problem = pose({"kind": "causal", "form": "1 1 q k"})
    # The first row of each head holds an exact 1 and zeros.
    found = look_at(problem.truth.weights.reshape(6, 5, 5), problem)
    assert (found.landmark.name, found.scrambled) == ("weights", ())


def test_shapes_in_letters():
    assert in_letters(("B", "", "Hd")) == "[B, 1, H*d]"
    assert in_letters(()) == "[]"
    assert write_shape("BHLd") == "[B, H, L, d]"
