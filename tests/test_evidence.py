"""What pictures show is what the file did: its own weights, its own gradients, its own lines."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sources import attention

from grader.evidence.lines import lines_of
from grader.grading import Request, grade
from grader.intake import read_submission
from grader.model import FREE, Departure, Diagnosis, Message, NamedMistake, Submission

TESTS = Path(__file__).parent
FILES = TESTS / "submissions"
GRADIENTS = 1e-6


@pytest.fixture
def picture(forge):
    """Path below tests/submissions or the repository -> a report with evidence."""

    def grade_one(path, seed=1):
        found = FILES / path
        found = found if found.is_file() else TESTS.parent / path
        return grade(read_submission(found), forge, Request(seed, pictured=True))

    return grade_one


def arrays(grids):
    return np.array(grids, dtype=float)


def test_nothing_is_gathered_unless_asked_for(forge):
    path = FILES / "wrong" / "missing_scale.py"
    assert grade(read_submission(path), forge, Request(1)).evidence is None


@pytest.mark.parametrize(
    ("path", "keys"),
    [
        ("reference/self_attention.py", 5),
        ("reference/causal_self_attention.py", 5),
        ("reference/cross_attention.py", 7),
        # One product for each head, each of which is a part of the picture.
        ("right/heads_loop.py", 7),
        ("right/bmm_folded_heads.py", 7),
        ("right/heads_three_lists.py", 5),
    ],
)
def test_right_file_has_the_expected_weights(picture, path, keys):
    evidence = picture(path).evidence
    seen = evidence.attention
    assert arrays(seen.expected).shape == (3, 5, keys)
    assert arrays(seen.got) == pytest.approx(arrays(seen.expected), abs=2e-6)
    visible = np.array(seen.visible)
    rows = arrays(seen.expected).sum(axis=-1)
    # A row adds up to 1, or to 0 where it sees nothing; the picture has rows of both kinds.
    assert rows == pytest.approx(visible.any(axis=-1).astype(float), abs=1e-5)
    assert {round(x) for x in rows.reshape(-1)} == {0, 1}
    assert not arrays(seen.expected)[~visible].any()
    assert evidence.gradients
    assert all(slope.error <= GRADIENTS for slope in evidence.gradients)
    assert evidence.allowed == GRADIENTS
    assert evidence.lines == ()


def test_weights_of_a_missing_scale_are_those_that_were_used(picture):
    evidence = picture("wrong/missing_scale.py").evidence
    expected, got = arrays(evidence.attention.expected), arrays(evidence.attention.got)
    # Unscaled scores are sqrt(6) times the scaled ones, so the weights are powers of them.
    powers = expected ** np.sqrt(6)
    total = powers.sum(axis=-1, keepdims=True)
    assert got == pytest.approx(powers / np.where(total == 0, 1, total), abs=2e-4)
    assert evidence.attention.line == 31
    errors = {slope.name: slope.error for slope in evidence.gradients}
    assert errors["q_proj.weight"] > 0.01
    # What comes after the weights is right whatever they are.
    assert errors["out_proj.bias"] < GRADIENTS


def test_rows_that_come_out_as_nan_have_no_numbers(picture):
    seen = picture("wrong/no_scale_and_nan_dead_rows.py").evidence.attention
    got, dead = np.array(seen.got, dtype=object), ~np.array(seen.visible).any(axis=-1)
    assert dead.any()
    assert all(value is None for value in got[dead].reshape(-1))
    assert all(value is not None for value in got[~dead].reshape(-1))


def test_mask_read_the_wrong_way_round_is_seen(picture):
    seen = picture("wrong/einsum_mask_inverted.py").evidence.attention
    visible = np.array(seen.visible)
    got = np.nan_to_num(arrays(seen.got))
    some = visible.any(axis=-1) & ~visible.all(axis=-1)
    assert got[some][visible[some]] == pytest.approx(0.0, abs=1e-9)
    assert got[some][~visible[some]].sum() > 1


def test_weights_over_another_axis_keep_their_places(picture):
    seen = picture("wrong/einsum_softmax_over_heads.py").evidence.attention
    got, visible = np.nan_to_num(arrays(seen.got)), np.array(seen.visible)
    shown = visible.all(axis=0)
    assert got.sum(axis=0)[shown] == pytest.approx(1.0, abs=1e-5)


def test_lines_are_those_around_what_is_said(picture):
    report = picture("wrong/missing_scale.py")
    source = (FILES / "wrong" / "missing_scale.py").read_text(encoding="utf-8").split("\n")
    lines = dict(report.evidence.lines)
    (mistake,) = report.diagnosis.mistakes
    assert set(range(mistake.line - 3, mistake.line + 4)) <= set(lines)
    assert all(text == source[number - 1].rstrip() for number, text in lines.items())
    assert len(lines) < len(source)


def test_file_that_does_not_load_has_its_line(forge, submit):
    broken = submit("import torch\nclass A(:\n    pass\n")
    evidence = grade(broken, forge, Request(1, pictured=True)).evidence
    assert evidence.lines == ((1, "import torch"), (2, "class A(:"), (3, "    pass"))
    assert evidence.attention is None
    assert evidence.gradients == ()


def test_file_without_a_mask_is_drawn_without_one(forge, submit):
    report = grade(submit(attention()), forge, Request(1, FREE, pictured=True))
    seen = report.evidence.attention
    assert seen.visible == ()
    assert arrays(seen.got) == pytest.approx(arrays(seen.expected), abs=2e-6)


def test_ready_made_attention_shows_no_weights_of_its_own(picture):
    seen = picture("right/free_block_holding_attention.py").evidence.attention
    assert seen.got == ()
    assert seen.line is None
    # It is causal by itself, and takes no mask.
    assert np.array_equal(seen.visible[0], np.tri(5, dtype=bool))


def test_pictures_are_the_same_whatever_the_seed(picture):
    """So that they say nothing of the seed that hidden cases are drawn with."""
    one, other = (picture("wrong/missing_scale.py", seed).evidence for seed in (1, 2))
    assert one.attention == other.attention
    assert one.gradients == other.gradients


def test_verdicts_are_the_same_with_and_without_pictures(forge, picture):
    path = FILES / "wrong" / "no_scale_and_nan_dead_rows.py"
    plain = grade(read_submission(path), forge, Request(1))
    seen = picture("wrong/no_scale_and_nan_dead_rows.py")
    assert seen.verdicts == plain.verdicts
    assert (seen.diagnosis, seen.follow_ups) == (plain.diagnosis, plain.follow_ups)


# Bounds


def reported(source, *lines):
    named = tuple(NamedMistake("missing-scale", line, ()) for line in lines)
    return Spoken(Submission("a.py", source, ""), Diagnosis(named))


class Spoken:
    """As much of a report as lines are read from."""

    verdicts = ()
    refusal = None

    def __init__(self, submission, diagnosis):
        self.submission, self.diagnosis = submission, diagnosis


def test_lines_are_few_and_short():
    source = "\n".join("x" * 5000 for _ in range(2000))
    found = lines_of(reported(source, *range(5, 2000, 9)))
    assert len(found) == 160
    assert max(len(text) for _, text in found) == 201
    assert found[0] == (2, "x" * 200 + "…")


def test_lines_that_the_file_does_not_have_are_left_out():
    assert lines_of(reported("a\nb\n", 1)) == ((1, "a"), (2, "b"))
    assert lines_of(reported("a\nb\n", 10**9)) == ()


def test_lines_are_safe_to_print():
    assert lines_of(reported("\ta = '\x1b[31m\u202e'\n", 1)) == ((1, "    a = '\\x1b[31m\\u202e'"),)


def test_lines_within_messages_count():
    inner = Message("trouble.raised", {"line": 3})
    report = reported("\n".join("abcdefghijklmnop"))
    report.verdicts = (type("V", (), {"message": Message("mask.form", {"inner": inner})}),)
    assert [number for number, _ in lines_of(report)] == [1, 2, 3, 4, 5, 6]
    departure = Departure(9, Message("departure.unscaled", {"line": 9, "scores": 16}))
    report.verdicts, report.diagnosis = (), replace(report.diagnosis, departures=(departure,))
    assert [number for number, _ in lines_of(report)] == [*range(6, 17)]
