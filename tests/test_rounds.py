"""The follow-up round: planned from what was seen, led by the answers, typed answers read."""

import functools
import json
import random
import re
import sys
from dataclasses import asdict, replace
from pathlib import Path

import pytest
import yaml
from test_reports import SAMPLE

from grader.choices import see_report
from grader.drill.rounds import (
    DIRECT,
    FORMS,
    LAYERED,
    SCENARIO,
    Mark,
    Outcome,
    Round,
    Step,
    choose_mark,
    describe,
    judge,
    judge_mark,
    load_chains,
    load_markings,
    load_scenarios,
    next_step,
    plan_round,
    say,
    suggest,
)
from grader.drill.rounds.plan import FOLDER
from grader.errors import UsageError
from grader.model import Diagnosis
from grader.questions import FIRST_ROUND, LEVELS, SENIOR, languages, load_questions

sys.path.insert(0, str(Path(__file__).parent.parent / "benchmarks"))
import marking

QUESTIONS = load_questions("en")
READS = list(marking.read_all())
POINTS = [
    pytest.param(language, name, point, id=f"{language}-{name}-{point + 1}")
    for language in languages()
    for name, question in load_questions(language).items()
    for point in range(len(question.points))
]
LINKS = [
    pytest.param(language, chain, link, id=f"{language}-{chain}-{link.question}")
    for language in languages()
    for chain, found in load_chains().items()
    for link in found.links
]
BOTH = [(language, name) for language in languages() for name in QUESTIONS]
FACTS = ["mistake:missing-scale", "mistake:nan-dead-rows", "area:all-masked-rows"]
HAN = "[\u4e00-\u9fff]"


@functools.cache
def raw(name):
    return yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))


def said_in(trap):
    """What a trap says, without what is wrong with it."""
    return re.match(r"'(?P<en>.+?)[.]' |“(?P<zh>.+?)”", trap).group("en", "zh")


def walk(plan, outcomes):
    """The steps of a whole round in which the answers of the chain are these."""
    step, left = plan.steps[0], iter(outcomes)
    while step is not None:
        yield step
        outcome = next(left, Outcome.COVERED) if step.form == LAYERED else Outcome.MISSED
        step = next_step(plan, step, outcome)


def sentences(language):
    words = raw(language)
    yield from words["scenarios"].items()
    for chain, links in words["chains"].items():
        for question, parts in links.items():
            yield from ((f"{chain} {question} {part}", said) for part, said in parts.items())
    yield from words["suggestion"].items()


# --- typed answers ---


def test_every_question_has_rules():
    assert list(load_markings()) == list(QUESTIONS)
    assert [
        name
        for name, rules in load_markings().items()
        if len(rules.points) != len(QUESTIONS[name].points) or not rules.trap
    ] == []


@pytest.mark.parametrize(("language", "name", "point"), POINTS)
def test_point_in_its_own_words_is_found(language, name, point):
    found = suggest(name, load_questions(language)[name].points[point])
    assert point in found.covered
    assert found.trap == ()


@pytest.mark.parametrize(("language", "name"), BOTH)
def test_trap_in_its_own_words_is_found(language, name):
    said = next(filter(None, said_in(load_questions(language)[name].trap)))
    found = suggest(name, said)
    assert found.trap != ()
    assert found.mark in (Mark.AGAIN, Mark.HARD)


@pytest.mark.parametrize("read", [r for r in READS if not r.is_aside], ids=lambda read: read.name)
def test_answer_is_read_as_a_person_does(read):
    assert frozenset(read.found.covered) == read.covers
    assert bool(read.found.trap) == read.trap
    assert read.found.mark == read.mark


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
            if question.topic != QUESTIONS[read.found.question].topic:
                found = suggest(name, says(read))
                made += len(found.covered)
                total += len(question.points)
                assert not (found.trap and not read.trap), (read.name, name, found.trap)
    assert total > 5_000
    assert made <= total / 50


def says(read):
    file, name, kind = read.name.split()
    text = (marking.ANSWERS / f"{file}.yaml").read_text(encoding="utf-8")
    return loaded(text)[name][kind]["says"]


@functools.cache
def loaded(text):
    return yaml.safe_load(text)


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
        (2, 4, False, "good"),
        (2, 5, False, "hard"),
        (3, 5, False, "good"),
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


# --- the plan ---


def test_round_has_the_three_forms_in_their_order():
    plan = plan_round(FACTS, 2026, FIRST_ROUND)
    assert [step.form for step in plan.steps] == [SCENARIO, LAYERED, DIRECT, DIRECT]
    assert FORMS == (SCENARIO, LAYERED, DIRECT)
    assert plan.steps[1] == Step(LAYERED, "shapes-walk", "shapes-to-output")


def test_report_tells_what_a_round_can_be_about():
    source = replace(SAMPLE.submission, source="w = torch.einsum('bqd,bkd->bqk', q, k)")
    report = replace(SAMPLE, submission=source)
    assert list(see_report(report)) == [
        "mistake:missing-scale",
        "area:scaling",
        "area:non-contiguous",
        "seen:einsum",
    ]
    passed = replace(SAMPLE, verdicts=SAMPLE.verdicts[:1], diagnosis=Diagnosis())
    assert list(see_report(passed)) == ["seen:all-passed"]


def test_same_seed_plans_the_same():
    assert plan_round(FACTS, 3, SENIOR) == plan_round(tuple(reversed(FACTS)), 3, SENIOR)
    assert len({plan_round(FACTS, seed, SENIOR).steps for seed in range(20)}) > 5


def test_no_question_comes_twice_and_each_fits_the_level():
    draw = random.Random(11)
    labels = sorted({label for one in QUESTIONS.values() for label in one.after})
    for seed in range(60):
        level = LEVELS[seed % 2]
        plan = plan_round(draw.sample(labels, draw.randrange(12)), seed, level)
        chain = load_chains()[plan.steps[1].script]
        asked = [plan.steps[0].question, *chain.questions, *(s.question for s in plan.steps[2:])]
        assert len(plan.steps) == 4
        assert len(asked) == len(set(asked))
        assert chain.level == level
        if level == FIRST_ROUND:
            assert {QUESTIONS[name].level for name in asked} == {FIRST_ROUND}


def test_round_is_about_what_was_seen():
    for seed in range(20):
        plan = plan_round(["mistake:missing-scale"], seed, FIRST_ROUND)
        links = load_chains()[plan.steps[1].script].questions
        asked = {*links, *(step.question for step in plan.steps)}
        assert any("mistake:missing-scale" in QUESTIONS[name].after for name in asked)


def test_plan_can_be_kept_as_json():
    plan = plan_round(FACTS, 5, SENIOR)
    kept = json.loads(json.dumps(asdict(plan)))
    steps = tuple(Step(**step) for step in kept.pop("steps"))
    assert Round(**kept, steps=steps) == plan


# --- the chain ---


def test_there_are_enough_scenarios_and_chains():
    assert len(load_scenarios()) >= 10
    assert len(load_chains()) >= 6
    assert {chain.level for chain in load_chains().values()} == set(LEVELS)


def test_chain_has_three_to_five_questions_of_the_bank():
    for name, chain in load_chains().items():
        assert 3 <= len(chain.links) <= 5, name
        assert set(chain.questions) <= set(QUESTIONS), name
        assert not chain.links[0].is_deeper, name
        for link in chain.links:
            assert 0 <= link.turns_on < len(QUESTIONS[link.question].points), name
            assert chain.level == SENIOR or QUESTIONS[link.question].level == FIRST_ROUND, name
    assert set(load_scenarios().values()) <= set(QUESTIONS)


def first_round():
    return replace(plan_round(FACTS, 2026, FIRST_ROUND))


def test_who_makes_each_point_is_led_deeper():
    steps = list(walk(first_round(), []))
    assert [(step.question, step.lead) for step in steps[1:7]] == [
        ("shapes-walk", ""),
        ("why-scale", "shapes-to-output.shapes-walk.deeper"),
        ("scale-constant", "shapes-to-output.why-scale.deeper"),
        ("dead-rows", "shapes-to-output.scale-constant.deeper"),
        ("why-output-projection", "shapes-to-output.dead-rows.deeper"),
        (steps[6].question, "shapes-to-output.why-output-projection.deeper"),
    ]
    assert [step.form for step in steps[6:]] == [DIRECT, DIRECT]


def test_who_misses_is_given_the_point_and_spared_the_deeper_question():
    steps = list(walk(first_round(), [Outcome.COVERED, Outcome.MISSED]))
    assert [(step.question, step.lead) for step in steps[2:4]] == [
        ("why-scale", "shapes-to-output.shapes-walk.deeper"),
        ("dead-rows", "shapes-to-output.why-scale.bridge"),
    ]


def test_trap_is_challenged_once():
    steps = list(walk(first_round(), [Outcome.TRAP, Outcome.TRAP, Outcome.MISSED]))
    assert [(step.question, step.turn, step.lead) for step in steps[1:4]] == [
        ("shapes-walk", "ask", ""),
        ("shapes-walk", "challenge", ""),
        ("why-scale", "ask", "shapes-to-output.shapes-walk.bridge"),
    ]


def test_what_the_interviewer_says_is_the_lead_and_the_question():
    step = Step(LAYERED, "dead-rows", "shapes-to-output", lead="shapes-to-output.why-scale.bridge")
    assert say(step, "en") == (
        "With components of variance 1, the dot product has variance d; dividing by sqrt(d) brings "
        "it back to 1. Now the mask. What happens to a query that may attend to no key at all, and "
        "what should happen?"
    )
    assert say(step, "zh") == (
        "各分量方差为 1 时，点积的方差是 d；除以 sqrt(d)，方差就回到 1。"
        "再说 mask。某个 query 一个 key 都看不到，会怎样？应该怎样？"
    )


def test_challenge_and_scenario_and_direct_question_are_said():
    challenge = Step(LAYERED, "why-scale", "shapes-to-output", "challenge")
    assert say(challenge, "en").startswith("Leave the scale out for a moment.")
    assert say(Step(SCENARIO, "dead-rows", "empty-document"), "zh").startswith("L = 512 的训练")
    assert say(Step(DIRECT, "why-scale"), "en") == QUESTIONS["why-scale"].question


def test_language_without_words_is_refused():
    with pytest.raises(UsageError):
        say(Step(SCENARIO, "dead-rows", "empty-document"), "rules")


def test_typed_answer_is_judged_by_the_point_that_the_chain_turns_on():
    step = Step(LAYERED, "why-scale", "shapes-to-output")
    on = suggest("why-scale", "the variance of the product is d_k")
    off = suggest("why-scale", "softmax saturates, which matters in early training")
    trap = suggest("why-scale", "the scale makes the weights sum to one")
    assert judge(step, on) is Outcome.COVERED
    assert judge(step, off) is Outcome.MISSED
    assert judge(step, trap) is Outcome.TRAP
    assert judge(Step(DIRECT, "why-scale"), off) is Outcome.COVERED


@pytest.mark.parametrize(
    ("mark", "outcome"),
    [("again", "missed"), ("hard", "missed"), ("good", "covered"), ("easy", "covered")],
)
def test_spoken_answer_is_judged_by_its_mark(mark, outcome):
    assert judge_mark(Mark(mark)) is Outcome(outcome)


# --- the words ---


@pytest.mark.parametrize("language", languages())
def test_words_are_complete(language):
    words = raw(language)
    assert list(words) == ["scenarios", "chains", "suggestion"]
    assert list(words["scenarios"]) == list(load_scenarios())
    assert list(words["chains"]) == list(load_chains())
    for name, chain in load_chains().items():
        assert list(words["chains"][name]) == list(chain.questions)
        for parts in words["chains"][name].values():
            assert list(parts) == ["ask", "deeper", "bridge", "challenge"]


@pytest.mark.parametrize(("language", "chain", "link"), LINKS)
def test_bridge_gives_the_point_that_the_chain_turns_on(language, chain, link):
    found = suggest(link.question, raw(language)["chains"][chain][link.question]["bridge"])
    assert link.turns_on in found.covered
    assert found.trap == ()


def test_sentences_have_the_same_placeholders():
    fields = [
        {
            key: set(re.findall(r"{(\w+)}", said))
            for key, said in raw(language)["suggestion"].items()
        }
        for language in languages()
    ]
    assert fields[0] == fields[1]


def test_sentences_end_and_differ():
    english, chinese = (dict(sentences(language)) for language in ("en", "zh"))
    spoken = [key for key in english if not key.startswith(("mark", "between"))]
    assert [key for key in spoken if english[key][-1] not in ".?)}"] == []
    assert [key for key in spoken if chinese[key][-1] not in "。？）}"] == []
    assert [key for key in english if not english[key].isascii()] == []
    assert [key for key in spoken if not re.search(HAN, chinese[key])] == []


def test_chinese_is_set_as_chinese():
    beside = re.compile(rf"{HAN}[,;:?!()\"']|[,;:?!()\"']{HAN}|{HAN}[A-Za-z0-9]|[A-Za-z0-9]{HAN}")
    assert [key for key, said in sentences("zh") if beside.search(said)] == []


@pytest.mark.parametrize("name", ["rules", "scenarios", "chains", "en", "zh"])
def test_no_key_comes_twice(name):
    text = (FOLDER / f"{name}.yaml").read_text(encoding="utf-8")
    top = re.findall(r"^([a-z0-9-]+):", text, re.MULTILINE)
    assert top == list(raw(name))
