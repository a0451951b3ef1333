"""Rotary positions gone wrong are named at their line, in either pairing; right ones never are."""

import pytest
from sources import attention, passes, said

HALVES = """
def quarter(x):
    one, two = x.chunk(2, -1)
    return torch.cat([-two, one], -1)

def waves(x, length):
    half = x.shape[-1] // 2
    speeds = 10000.0 ** (-torch.arange(half, dtype=x.dtype) / half)
    angles = torch.arange(length, dtype=x.dtype)[:, None] * speeds
    angles = angles.repeat(1, 2)
    return angles.cos(), angles.sin()

def turn(x):
    cos, sin = waves(x, x.shape[-2])
    return x * cos + quarter(x) * sin
"""
CUT = ("one, two = x.chunk(2, -1)", "one, two = x[..., ::2], x[..., 1::2]")
JOINED = ("torch.cat([-two, one], -1)", "torch.stack([-two, one], -1).flatten(-2)")
SPREAD = ("angles.repeat(1, 2)", "angles.repeat_interleave(2, -1)")
TURNED = """
q = turn(q)
k = turn(k)
scores = q @ k.mT / math.sqrt(q.shape[-1])
"""
SUM = "x * cos + quarter(x) * sin"
# By mistake: what is put in place of what, and the words of the line that is named.
WRONG = [
    ("rotary-on-values", "k = turn(k)", "k = turn(k)\nv = turn(v)", "v = turn(v)"),
    ("rotary-uneven", "k = turn(k)\n", "", None),
    ("rotary-uneven", "q = turn(q)\n", "", None),
    ("rotary-uneven", "k = turn(k)", "k = turn(turn(k))", "turn(turn(k))"),
    ("rotary-uneven", "k = turn(k)", "k = 2 * k * waves(k, k.shape[-2])[0] - turn(k)", None),
    ("rotary-no-rotation", SUM, "x * cos + quarter(x) * cos", "quarter(x) * cos"),
    ("rotary-no-rotation", SUM, "x * sin + quarter(x) * sin", "x * sin"),
    ("rotary-no-rotation", "[-two, one]", "[two, one]", SUM),
]


def rewrite(text, *changes):
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def write(*changes, pairing="halves"):
    """A file with rotary positions, of which some words are others."""
    above = rewrite(HALVES, CUT, JOINED, SPREAD) if pairing == "pairs" else HALVES
    inside = TURNED
    for old, new in changes:
        above, inside = above.replace(old, new), inside.replace(old, new)
    assert (above, inside) != (HALVES, TURNED) or not changes
    return attention(above=above, mask=inside)


def first(report):
    return report.diagnosis.mistakes[0]


@pytest.mark.parametrize("pairing", ["halves", "pairs"])
@pytest.mark.parametrize(("mistake", "old", "new", "words"), WRONG)
def test_wrong_turn_is_named_at_its_line(grade_source, pairing, mistake, old, new, words):
    source = write((old, new), pairing=pairing)
    report = grade_source(source)
    assert first(report).mistake == mistake
    assert ("convention.layout-assumed", {}) not in said(report)
    assert 65 < report.score < 90
    if words:
        assert words in source.split("\n")[first(report).line - 1]


@pytest.mark.parametrize("changes", [[SPREAD], [CUT, JOINED]])
def test_two_pairings_in_one_file_are_named(grade_source, changes):
    assert first(grade_source(write(*changes))).mistake == "rotary-mispaired"


def test_turn_across_heads_is_named(grade_source):
    across = "t.transpose(1, 2).flatten(2)[:, None]"
    back = "[:, 0].unflatten(-1, (self.h, -1)).transpose(1, 2)"
    whole = f"q, k = (turn({across}){back} for t in (q, k))\n"
    source = write(("q = turn(q)\nk = turn(k)\n", whole))
    assert first(grade_source(source)).mistake == "rotary-mispaired"


def test_sines_of_the_other_are_named(grade_source):
    for one in ("k, q", "q, k"):
        own, other = one.split(", ")
        cos, sin = (f"waves({own}, {own}.shape[-2])[{n}]" for n in (0, 1))
        mixed = f"{own} = {own} * {cos} + quarter({other}) * {sin}"
        source = write((f"{own} = turn({own})", mixed))
        assert first(grade_source(source)).mistake == "rotary-uneven"


@pytest.mark.parametrize("pairing", ["halves", "pairs"])
def test_positions_that_start_elsewhere_are_right(grade_source, pairing):
    passes(grade_source(write(pairing=pairing)))
    later = ("torch.arange(length, dtype=x.dtype)", "torch.arange(3, length + 3, dtype=x.dtype)")
    passes(grade_source(write(later, pairing=pairing)))


@pytest.mark.parametrize("turned", ["x * cos - quarter(x) * sin", "x * sin + quarter(x) * cos"])
def test_both_turned_backwards_are_right(grade_source, turned):
    report = grade_source(write((SUM, turned)))
    passes(report)
    assert ("convention.positions.back", {}) in said(report)
