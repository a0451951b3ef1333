"""Rotary positions: which numbers of a head are turned, how fast, and how much of it."""

import numpy as np
import pytest

from grader.bank.masks import Sizes
from grader.rotary import SHARES, Turn, bases_in, find_turn, name_turns, turn_back

RNG = np.random.default_rng(5)
TURNS = [
    Turn("halves"),
    Turn("pairs"),
    Turn("halves", 5e5),
    Turn("pairs", share=0.5),
    Turn("halves", 100.0, 0.25),
    Turn("pairs", sense=-1.0),
]


@pytest.mark.parametrize("turn", TURNS)
def test_turning_back_undoes_a_turn(turn):
    x = RNG.normal(size=(2, 3, 5, 8))
    turned = turn(x)
    count = int(8 * turn.share)
    assert np.allclose(turned[:, :, 0], x[:, :, 0])
    assert not np.isclose(turned[:, :, 1:, :count], x[:, :, 1:, :count]).all(axis=(0, 1, 2)).any()
    assert np.array_equal(turned[..., count:], x[..., count:])
    assert np.allclose(turn(turned, -1), x)


@pytest.mark.parametrize("turn", TURNS)
def test_scores_of_turned_tokens_depend_on_their_distance(turn):
    q, k = (np.repeat(RNG.normal(size=(1, 1, 1, 8)), 5, axis=2) for _ in range(2))
    scores = (turn(q) @ turn(k).swapaxes(-1, -2))[0, 0]
    for offset in range(-4, 5):
        assert np.ptp(np.diagonal(scores, offset)) < 1e-12
    assert np.ptp(scores) > 0.1


@pytest.mark.parametrize(
    ("turn", "partners"),
    [
        (Turn("halves"), [0, 4]),
        (Turn("pairs"), [0, 1]),
        (Turn("halves", share=0.5), [0, 2]),
    ],
)
def test_pairs_are_those_of_their_kind(turn, partners):
    x = np.zeros((1, 1, 2, 8))
    x[..., 0] = 1.0
    assert np.flatnonzero(turn(x)[0, 0, 1]).tolist() == partners
    assert turn(x)[0, 0, 1, partners].tolist() == [np.cos(1.0), np.sin(1.0)]


def test_later_pairs_are_slower_by_the_base():
    x = np.zeros((1, 1, 2, 8))
    x[..., 2] = 1.0
    assert Turn("pairs", 256.0)(x)[0, 0, 1, 2:4].tolist() == [np.cos(0.25), np.sin(0.25)]
    assert Turn("pairs", 256.0, 0.5)(x)[0, 0, 1, 2] == np.cos(1 / 16)


def test_a_contract_names_its_turn():
    assert [find_turn(turn.name) for turn in TURNS] == TURNS
    assert [find_turn(other) for other in ("", "unknown", "slopes-absolute")] == [None] * 3
    names = name_turns([10000.0, 500.0], SHARES)
    assert len(set(names)) == 16
    back = turn_back(("", "slopes", *names[:1]))
    assert [find_turn(name) for name in back] == [Turn("halves", sense=-1.0)]
    assert [find_turn(name) for name in names[:3]] == [
        Turn("halves"),
        Turn("pairs"),
        Turn("halves", 500.0),
    ]


@pytest.mark.parametrize(
    ("source", "bases"),
    [
        ("theta = 1", [1e4]),
        ("base=10_000, max_len=2048", [1e4, 2048.0]),
        ("rope_theta: float = 500000.0", [1e4, 5e5]),
        ("theta = 1e6; x5000; 5000x; 0.500; 99; 1e999", [1e4, 1e6]),
        ("1000 2000 3000 4000", [1e4, 1000.0, 2000.0, 3000.0]),
    ],
)
def test_bases_are_read_from_the_source(source, bases):
    assert bases_in(source) == bases


def test_heads_are_made_of_whole_pairs():
    assert [turn.heads for turn in TURNS] == [2, 2, 2, 16, 16, 2]
    assert Sizes().with_heads_of(2) == Sizes()
    assert Sizes().with_heads_of(16).d_model == 48
    assert Sizes(head_dim=5).with_heads_of(2) == Sizes(head_dim=6)
