"""What became of the bugs: found, left or broken, by the report on the file that comes back."""

import random
import re

import pytest

from grader.drill.planting import Broken, Repair, compare, plant
from grader.drill.planting.choices import choices
from grader.drill.planting.plant import sow
from grader.drill.planting.symptoms import explains
from grader.drill.styles import draw
from grader.model import Outcome, Verdict


def find(*mistakes, jobs=()):
    """A drill with exactly these mistakes, each alone in a piece."""
    for seed in range(400):
        style = draw(random.Random(f"find {seed}"))
        offers = {choice.mistake: choice for choice in choices(style)}
        if set(mistakes) <= set(offers):
            drawn = [offers[mistake] for mistake in mistakes]
            if all(a.agrees(b) for a in drawn for b in drawn if a is not b):
                return style, drawn
    raise AssertionError(f"no style has room for {mistakes}")


def test_untouched_file_has_everything_left(grade_source):
    planted = plant(4)
    report = grade_source(planted.source, planted.exercise)
    assert compare(planted, report) == Repair((), planted.mistakes)


def test_untouched_but_for_comments_has_everything_left(grade_source):
    planted = plant(4)
    text = planted.source.replace("        super()", "        # here?\n\n        super()")
    assert compare(planted, grade_source(text, planted.exercise)) == Repair((), planted.mistakes)


def test_mended_file_has_everything_found(grade_source):
    planted = plant(4)
    repair = compare(planted, grade_source(planted.answer, planted.exercise))
    assert repair == Repair(planted.mistakes, ())
    assert repair.is_complete


def test_another_right_answer_has_everything_found(grade_source):
    planted = plant(4, "self-attention")
    other = plant(5, "self-attention").answer
    repair = compare(planted, grade_source(other, planted.exercise))
    assert repair == Repair(planted.mistakes, ())


@pytest.mark.parametrize(
    "mistakes",
    [
        ("missing-scale", "dropout-never-applied"),
        ("softmax-over-queries", "key-used-as-value"),
        ("uniform-dead-rows", "divisibility-asserted"),
        ("merge-without-transpose", "scale-by-head-dim", "dropout-never-applied"),
    ],
)
def test_some_found_and_some_left(mistakes, grade_source):
    style, drawn = find(*mistakes)
    planted = sow(style, drawn)
    for choice in drawn:
        report = grade_source(sow(style, [choice]).source, style.exercise)
        others = tuple(one for one in planted.mistakes if one != choice.mistake)
        assert compare(planted, report) == Repair(others, (choice.mistake,))


def test_mended_in_another_way_is_found(grade_source):
    style, drawn = find("missing-scale", "dropout-never-applied")
    planted = sow(style, drawn)
    (spot,) = [spot for spot in planted.spots if spot.mistake == "missing-scale"]
    assert spot.wrong
    # The statement stays as it was planted, and another one makes up for it.
    lines = planted.source.split("\n")
    indent = re.match(" *", lines[spot.line - 1])[0]
    scores, queries = style.names["scores"], style.names["q"]
    lines.insert(spot.line, f"{indent}{scores} = {scores} / math.sqrt({queries}.shape[-1])")
    repair = compare(planted, grade_source("\n".join(lines), style.exercise))
    assert repair == Repair(("missing-scale",), ("dropout-never-applied",))


def test_exchanged_for_another_mistake_is_found_and_broken(grade_source):
    style, drawn = find("missing-scale", "dropout-never-applied")
    planted = sow(style, drawn)
    offers = {c.mistake: c for c in choices(style) if c.job == drawn[0].job}
    text = sow(style, [offers["scale-by-head-dim"]]).source
    repair = compare(planted, grade_source(text, style.exercise))
    assert repair.found == planted.mistakes
    assert repair.left == ()
    assert [one.mistake for one in repair.broken] == ["scale-by-head-dim"]


def test_broken_in_passing_is_told_with_its_line_and_cases(grade_source):
    style, drawn = find("missing-scale", "divisibility-asserted", "dropout-never-applied")
    scale, divisibility, dropout = drawn
    planted, now = sow(style, [scale, divisibility]), sow(style, [scale, dropout])
    repair = compare(planted, grade_source(now.source, style.exercise))
    assert repair.found == ("divisibility-asserted",)
    assert repair.left == ("missing-scale",)
    (broken,) = repair.broken
    assert broken.mistake == "dropout-never-applied"
    assert broken.line == dict(zip(now.mistakes, now.lines))["dropout-never-applied"]
    assert broken.cases
    assert all(case.startswith("dropout") for case in broken.cases)


def test_file_that_cannot_be_graded_has_everything_left(grade_source):
    planted = plant(4)
    report = grade_source(planted.answer + "\n)", planted.exercise)
    assert report.refusal is not None
    assert compare(planted, report) == Repair((), planted.mistakes)


def test_rewritten_file_that_is_wrong_otherwise(grade_source):
    style, drawn = find("nan-dead-rows", "divisibility-asserted")
    planted = sow(style, drawn)
    head, _, tail = plant(9, style.exercise).answer.rpartition("return ")
    repair = compare(planted, grade_source(f"{head}return 1.5 * {tail}", style.exercise))
    # What rows do that see nothing could not be judged; the constructor could.
    assert repair.found == ("divisibility-asserted",)
    assert repair.left == ("nan-dead-rows",)
    assert {one.mistake for one in repair.broken} == {None}
    assert "values" in repair.broken[0].cases


def test_signs_of_a_mistake():
    def failed(area, mistake=None):
        return Verdict("case", area, Outcome.FAILED, 0.0, 1.0, None, mistake)

    assert explains("missing-scale", failed("dropout"))
    assert not explains("missing-scale", failed("divisibility"))
    assert explains("missing-scale", failed("scaling", "scale-by-head-dim"))
    assert not explains("missing-scale", failed("scaling", "double-softmax"))
    assert explains("nan-dead-rows", failed("all-masked-rows", "nan-dead-gradients"))
    assert not explains("nan-dead-rows", failed("scaling"))
    assert explains("mask-inverted", failed("padding-mask"))
    assert not explains("mask-inverted", failed("dropout"))


def test_nothing_left_and_nothing_broken_is_complete():
    assert not Repair((), ("missing-scale",)).is_complete
    assert not Repair(("missing-scale",), (), (Broken(None, None, ("values",)),)).is_complete
