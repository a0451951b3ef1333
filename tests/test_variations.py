"""Right variations of the definition: shared heads, slopes, padded queries."""

import numpy as np
import pytest

from grader.definition import Weights
from grader.variations import (
    LEANS,
    blank_padded_queries,
    hide_padded_queries,
    share_heads,
    spread_heads,
    thin_heads,
    total_heads,
)

RNG = np.random.default_rng(5)


@pytest.mark.parametrize(
    ("kind", "heads", "slopes"),
    [
        ("slopes", 2, [2**-4, 2**-8]),
        ("slopes-powers", 2, [2**-4, 2**-8]),
        ("slopes", 3, [2 ** (-8 / 3), 2 ** (-16 / 3), 2**-8]),
        ("slopes-powers", 3, [2**-4, 2**-8, 2**-2]),
    ],
)
def test_each_head_has_its_slope(kind, heads, slopes):
    leaned = LEANS[kind](np.zeros((1, heads, 4, 4)))
    assert np.allclose(leaned[0, :, 3, 2], -np.array(slopes))
    assert np.allclose(leaned[0, :, 2, 3], np.array(slopes))
    absolute = LEANS[kind.replace("slopes", "slopes-absolute")](np.zeros((1, heads, 4, 4)))
    assert np.allclose(absolute[0, :, 2, 3], -np.array(slopes))


def test_heads_are_shared_by_neighbours_or_in_turn():
    thin = np.arange(4.0).reshape(4, 1)  # two heads of size two
    assert spread_heads(thin, 4, 2)[:, 0].tolist() == [0, 1, 0, 1, 2, 3, 2, 3]
    assert spread_heads(thin, 4, 2, in_turn=True)[:, 0].tolist() == [0, 1, 2, 3, 0, 1, 2, 3]
    for in_turn in (False, True):
        full = spread_heads(thin, 4, 2, in_turn)
        assert np.array_equal(thin_heads(full, 4, 2, in_turn), thin)
    assert total_heads(spread_heads(thin, 4, 2), 4, 2)[:, 0].tolist() == [0, 2, 0, 2, 4, 6, 4, 6]


def test_only_keys_and_values_are_shared():
    matrix, bias = RNG.normal(size=(6, 6)), RNG.normal(size=6)
    shared = share_heads(Weights(matrix, matrix, matrix, matrix, bv=bias), 3, 1)
    assert np.array_equal(shared.Wq, matrix)
    assert np.array_equal(shared.Wo, matrix)
    assert np.array_equal(shared.Wk, np.tile(matrix[:2], (3, 1)))
    assert np.array_equal(shared.bv, np.tile(bias[:2], 3))
    assert shared.bk is None


def test_padded_queries_are_those_that_no_query_sees():
    visible = np.ones((2, 1, 3, 3), dtype=bool)
    visible[1, :, :, 2] = False
    hidden = hide_padded_queries(visible)
    assert hidden[0].all()
    assert hidden[1, 0].tolist() == [[True, True, False], [True, True, False], [False] * 3]
    output = np.ones((2, 3, 4))
    assert blank_padded_queries(output, None) is output
    assert blank_padded_queries(output, visible).sum(axis=-1).tolist() == [[4, 4, 4], [4, 4, 0]]
