"""Find the bugs: what is planted, and where."""

import dataclasses
import json
import random

import pytest

from benchmarks.shortening import mending_lines
from grader.bank import load_exercise
from grader.drill.planting import Planted, plant
from grader.drill.planting.plant import draw_drill, sow
from grader.drill.planting.symptoms import AREAS, NAMES, can_show
from grader.drill.styles import as_text, draw, offered, write
from grader.drill.styles.pieces import read_pieces
from grader.errors import UsageError
from grader.mistakes import CATALOGUE, read_statements
from grader.similarity.tokens import tokenize
from grader.texts import load_pages, load_texts

SEEDS = range(60)
PIECES = [piece for pieces in read_pieces().values() for piece in pieces]


@pytest.fixture(scope="module")
def drills():
    return [plant(seed) for seed in SEEDS]


def known(piece_mistakes):
    return {mistake for mistake, edits in piece_mistakes.items() if edits}


def test_drill_is_the_same_for_the_same_seed(drills):
    assert plant(7) == drills[7]
    assert plant(7, "self-attention") == plant(7, "self-attention")


def test_no_two_drills_are_alike(drills):
    assert len({tokenize(planted.source).codes for planted in drills}) == len(drills)


def test_drill_survives_json(drills):
    for planted in drills[:5]:
        assert Planted.restore(json.loads(json.dumps(dataclasses.asdict(planted)))) == planted


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_as_many_are_planted_as_are_asked_for(count):
    assert {len(plant(seed, count=count).spots) for seed in range(8)} == {count}


def test_one_to_four_are_planted(drills):
    assert {len(planted.spots) for planted in drills} == {1, 2, 3, 4}


@pytest.mark.parametrize("count", [0, 5, -1])
def test_other_counts_are_refused(count):
    with pytest.raises(ValueError, match=f"count is {count}, and can be 1 to 4"):
        plant(1, count=count)


def test_every_exercise_of_the_bank_is_offered(drills):
    assert {planted.exercise for planted in drills} == set(offered())
    for exercise in offered():
        assert plant(3, exercise).source.startswith(f"# mha-grade: {exercise}\n")


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", "There is no drill of this kind for free. There is for: {known}"),
        ("zh", "题目 free 没有这类训练。有这类训练的题目：{known}"),
    ],
)
def test_exercise_without_drills_is_refused_in_words(language, words):
    with pytest.raises(UsageError) as raised:
        plant(1, "free")
    said = load_texts(language).say(raised.value.message)
    assert said == words.format(known=", ".join(offered()))
    with pytest.raises(UsageError, match=r"exercise\.unknown"):
        plant(1, "no-such-exercise")


def test_planted_line_is_where_the_statement_stands(drills):
    for planted in drills:
        assert list(planted.lines) == sorted(planted.lines)
        statements = read_statements(planted.source)
        for spot in planted.spots:
            said = {one.said for one in statements if one.line == spot.line}
            assert said & set(spot.wrong) or not spot.wrong, spot
            assert set(spot.right) != set(spot.wrong)


def test_answer_has_the_right_statements_and_the_source_the_wrong_ones(drills):
    for planted in drills:
        answer = {one.said for one in read_statements(planted.answer)}
        source = {one.said for one in read_statements(planted.source)}
        for spot in planted.spots:
            assert set(spot.right) <= answer
            assert set(spot.wrong) <= source


def test_each_mistake_of_a_drill_is_another_and_can_be_made(drills):
    for planted in drills:
        assert len(set(planted.mistakes)) == len(planted.mistakes)
        contract = load_exercise(planted.exercise).contract
        for mistake in planted.mistakes:
            assert mistake not in CATALOGUE or CATALOGUE[mistake].can_be_made(contract)


def test_at_most_one_mistake_of_a_drill_is_in_the_mask(drills):
    hiding = {"hide", "visible", "after_softmax"}
    for planted in drills:
        masks = [m for m in planted.mistakes if m in CATALOGUE and hiding & set(CATALOGUE[m].steps)]
        dead = [m for m in planted.mistakes if "dead" in m]
        assert len(masks) + len(dead) <= 1


def test_nothing_marks_a_mistake(drills):
    for planted in drills:
        for mistake in planted.mistakes:
            assert mistake not in planted.source
        right, wrong = planted.answer.split("\n"), planted.source.split("\n")
        comments = [[line for line in side if "#" in line] for side in (right, wrong)]
        assert comments[0] == comments[1]
        imports = [[line for line in side if "import " in line] for side in (right, wrong)]
        assert imports[0] == imports[1]
        assert max(map(len, wrong)) <= 100
        assert not any(line != line.rstrip() for line in wrong)


@pytest.mark.every
def test_no_drill_is_mended_by_deleting_a_line():
    for seed in SEEDS[:10]:
        style, drawn = draw_drill(seed)
        for planted in (sow(style, drawn), *(sow(style, [choice]) for choice in drawn)):
            assert mending_lines(planted.source, planted.answer) == [], seed


def test_every_mistake_has_a_page_and_a_way_to_show():
    ids = {mistake for piece in PIECES for mistake in known(piece.mistakes)}
    assert len(ids & set(CATALOGUE)) >= 45
    assert ids - set(CATALOGUE) == set(AREAS)
    assert ids <= set(load_pages("en"))
    assert set(NAMES) <= ids
    for mistake in ids:
        assert any(can_show(mistake, area) for area in load_exercise("self-attention").areas) or (
            can_show(mistake, "causal-mask") or can_show(mistake, "cross-attention")
        )


def test_every_edit_has_a_place():
    for piece in PIECES:
        for mistake, edits in piece.mistakes.items():
            for old, new in (edits or {}).items():
                text = "".join(piece.parts.values())
                assert old != new
                assert piece.job == "normalise" or old in text, (piece.job, mistake, old)
            if edits:
                assert piece.edited(edits).parts != piece.parts, (piece.job, mistake)


def test_every_piece_is_drawn():
    drawn = {id(p.parts) for s in range(400) for p in draw(random.Random(s)).pieces.values()}
    for job in ("project", "scores", "visibility", "context", "merge", "output", "split"):
        assert {id(piece.parts) for piece in read_pieces()[job]} <= drawn


@pytest.mark.every
def test_answers_of_many_styles_pass(grade_source):
    for seed in range(6):
        style = draw(random.Random(f"answers {seed}"))
        report = grade_source(as_text(write(style)), style.exercise, seed)
        assert report.all_passed, seed
        assert report.score == 100


@pytest.mark.parametrize("seed", range(3))
def test_each_mistake_alone_is_caught(seed, grade_source):
    style, drawn = draw_drill(seed)
    for choice in drawn:
        report = grade_source(sow(style, [choice]).source, style.exercise)
        assert report.score < 100
        assert not report.all_passed
        assert not report.has_errors
