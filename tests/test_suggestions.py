"""Typed answers: which points they make, whether they state the trap, and the mark suggested."""

import re
from pathlib import Path

import pytest

from benchmarks import marking
from grader.drill.rounds import Mark, choose_mark, describe, load_markings, suggest
from grader.questions import languages, load_questions

QUESTIONS = load_questions("en")
READS = list(marking.read_all())
BOTH = [(language, name) for language in languages() for name in QUESTIONS]


def said_in(trap):
    """What a trap says, without what is wrong with it."""
    return re.match(r"'(?P<en>.+?)[.]' |“(?P<zh>.+?)”", trap).group("en", "zh")


def test_every_question_has_rules():
    assert list(load_markings()) == list(QUESTIONS)
    assert [
        name
        for name, rules in load_markings().items()
        if len(rules.points) != len(QUESTIONS[name].points) or not rules.trap
    ] == []


@pytest.mark.parametrize(("language", "name"), BOTH)
def test_points_in_their_own_words_are_found(language, name):
    for point, said in enumerate(load_questions(language)[name].points):
        found = suggest(name, said)
        assert point in found.covered, said
        assert found.trap == (), said


@pytest.mark.parametrize(("language", "name"), BOTH)
def test_trap_in_its_own_words_is_found(language, name):
    said = next(filter(None, said_in(load_questions(language)[name].trap)))
    found = suggest(name, said)
    assert found.trap != ()
    assert found.mark in (Mark.AGAIN, Mark.HARD)


@pytest.mark.parametrize("question", QUESTIONS)
def test_answers_are_read_as_a_person_does(question):
    reads = [read for read in READS if read.question == question and not read.is_aside]
    assert reads
    for read in reads:
        assert frozenset(read.found.covered) == read.covers, read.name
        assert bool(read.found.trap) == read.trap, read.name
        assert read.found.mark == read.mark, read.name


@pytest.mark.parametrize("is_last", [False, True], ids=["a fifth", "written last"])
def test_answers_set_aside_are_mostly_read_right(is_last):
    """No rule was fitted to them; benchmarks/marking.py prints the figures."""
    aside = [read for read in READS if read.is_aside and read.is_last is is_last]
    counts = marking.count(aside)
    assert counts["answers"] >= 50
    assert counts["hits"] >= 0.85 * (counts["hits"] + counts["missed"])
    assert counts["imagined"] <= 0.05 * counts["hits"]
    assert counts["trap hits"] >= 0.7 * (counts["trap hits"] + counts["traps missed"])
    assert counts["traps imagined"] == 0


def figures(reads):
    counts = marking.count(reads)
    points = counts["hits"] + counts["missed"]
    traps = counts["trap hits"] + counts["traps missed"]
    return (
        f"| {counts['hits']} of {points} | {counts['imagined']} "
        f"| {counts['trap hits']} of {traps} | {counts['traps imagined']} | {counts['marks']} |"
    )


def test_documented_figures_are_those_of_today():
    text = (Path(__file__).parent.parent / "docs" / "drill-rounds.md").read_text(encoding="utf-8")
    fitted = [read for read in READS if not read.is_aside]
    fifth = [read for read in READS if read.is_aside and not read.is_last]
    last = [read for read in READS if read.is_last]
    assert f"reads {len(READS)} answers" in text
    for reads in (fitted, fifth, last):
        assert re.search(rf"^\| {len(reads)} .*{re.escape(figures(reads))}$", text, re.MULTILINE)


def test_every_question_has_answers_of_each_kind_in_both_languages():
    kinds = {tuple(read.name.split()) for read in READS}
    wanted = {
        (language, name, kind)
        for language in languages()
        for name in QUESTIONS
        for kind in ("good", "weak", "brief", "slip")
    }
    assert kinds >= wanted


def test_answers_to_other_questions_make_few_points():
    """An answer about something else is no answer: of all points at most one in fifty."""
    made = total = 0
    for read in READS[::16]:
        for name, question in QUESTIONS.items():
            if question.topic != QUESTIONS[read.question].topic:
                found = suggest(name, read.says)
                made += len(found.covered)
                total += len(question.points)
                assert not (found.trap and not read.trap), (read.name, name, found.trap)
    assert total > 5_000
    assert made <= total / 50


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("output-projection-linear", "Not because it adds non-linearity: W_O is linear."),
        ("output-projection-linear", "很多人说 W_O 增加了非线性，这是错的，它是线性层。"),
        ("why-scale", "It is not there so that the weights sum to one."),
        ("why-scale", "缩放不是为了让权重和为 1。"),
        ("flash-attention", "It doesn't make attention linear in the length."),
        ("flash-attention", "它并没有把注意力变成线性复杂度。"),
        ("kv-cache", "It is wrong that the cache also works without a causal mask."),
        ("rope", "You don't rotate v as well."),
        ("rope", "v 不旋转，不能为了一致也转 v。"),
        ("eval-mode", "torch.no_grad() does not turn off dropout."),
        ("grouped-query", "k.repeat(1, G, 1, 1) would be wrong."),
        ("dropout-place", "It's a misconception that before the softmax is the same."),
        ("alibi", "The slopes are not learned."),
        ("alibi", "斜率不是学出来的，是固定的。"),
        ("bfloat16-or-float16", "bf16 isn't more precise, it has the larger range."),
    ],
)
def test_trap_that_is_denied_is_not_met(name, text):
    assert suggest(name, text).trap == ()


@pytest.mark.parametrize(
    "text", ["", " \n", "I don't know", "no idea, sorry", "不知道", "这个忘了"]
)
def test_no_answer_misses_everything(text):
    for name, question in QUESTIONS.items():
        found = suggest(name, text)
        assert found.covered == found.quotes == found.trap == ()
        assert found.missed == tuple(range(len(question.points)))
        assert found.mark == Mark.AGAIN


def test_languages_may_be_mixed_and_formulas_written_anyhow():
    text = "点积的 Variance 随 ｄ＿ｋ 变大，除以 √d_k 拉回到 1，要不然 Soft-max 会 saturate"
    found = suggest("why-scale", text)
    assert found.covered == (0, 1, 2)
    assert found.quotes[0] == ("Variance", "ｄ＿ｋ")
    assert found.mark == Mark.GOOD


def test_long_answer_is_cut():
    found = suggest("why-scale", "the variance is d_k. " * 5_000)
    assert found.is_cut
    assert found.covered == (0,)


@pytest.mark.parametrize(
    ("covered", "points", "trap", "mark"),
    [
        (0, 4, False, "again"),
        (0, 4, True, "again"),
        (1, 4, False, "hard"),
        (1, 3, False, "hard"),
        (2, 3, False, "good"),
        (2, 4, False, "hard"),
        (3, 4, False, "good"),
        (3, 5, False, "hard"),
        (4, 5, False, "good"),
        (3, 4, True, "hard"),
        (4, 4, False, "easy"),
        (4, 4, True, "hard"),
    ],
)
def test_mark_follows_from_points_and_trap(covered, points, trap, mark):
    assert choose_mark(covered, points, trap).value == mark


def test_suggestion_is_worded_as_one():
    found = suggest(
        "why-scale", "Large scores saturate the softmax. The scaled weights sum to one."
    )
    points = QUESTIONS["why-scale"].points
    assert list(describe(found, "en")) == [
        "It looks as if this answer makes 1 of 4 points.",
        f"Seems to be said: {points[2]} (by your words: saturate, softmax)",
        *(f"Seems to be missing: {points[point]}" for point in (0, 1, 3)),
        "It looks as if this states the trap (by your words: scaled, sum to one).",
        "Suggested mark: hard. The rules look for words and do not understand; the mark is yours.",
    ]


def test_suggestion_is_worded_in_chinese():
    found = suggest("multi-query", "不知道。" * 3_000)
    points = load_questions("zh")["multi-query"].points
    assert list(describe(found, "zh")) == [
        "这个答案看起来没有提到 4 个要点中的任何一个。",
        *(f"似乎没有说到：{point}" for point in points),
        "答案较长，只读了前 8,000 个字符。",
        "建议评分：重来。规则只找词，并不理解意思，评分由你决定。",
    ]


def test_all_points_are_worded():
    text = " ".join(QUESTIONS["why-scale"].points)
    found = suggest("why-scale", text)
    assert next(describe(found, "en")) == "It looks as if this answer makes all 4 points."
    assert next(describe(found, "zh")) == "这个答案看起来提到了全部 4 个要点。"
