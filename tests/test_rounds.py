"""The follow-up round: planned from what was seen, led by the answers, worded in two languages."""

import functools
import json
import random
import re
from dataclasses import asdict, replace

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
    judge,
    judge_mark,
    load_chains,
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

QUESTIONS = load_questions("en")
LINKS = [
    pytest.param(language, chain, link, id=f"{language}-{chain}-{link.question}")
    for language in languages()
    for chain, found in load_chains().items()
    for link in found.links
]
FACTS = ["mistake:missing-scale", "mistake:nan-dead-rows", "area:all-masked-rows"]
HAN = "[\u4e00-\u9fff]"


@functools.cache
def raw(name):
    return yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))


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
    return plan_round(FACTS, 2026, FIRST_ROUND)


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


def test_typed_answer_outside_of_a_chain_is_judged_by_its_mark():
    step, said = Step(DIRECT, "why-scale"), QUESTIONS["why-scale"].points
    assert judge(step, suggest("why-scale", " ".join(said[1:]))) is Outcome.COVERED
    assert judge(step, suggest("why-scale", " ".join(said[2:]))) is Outcome.MISSED


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
