"""The follow-up questions are complete in both languages, and the choice among them is apt."""

import functools
import itertools
import random
import re

import pytest
import yaml

from grader.bank.loader import AREAS
from grader.errors import UsageError
from grader.mistakes import CATALOGUE
from grader.questions import FOLDER, LEVELS, choose, languages, load_questions


def words(text):
    return set(text.split())


TOPICS = words(
    "shapes scale softmax masks dead-rows projections cross dropout layout precision gradients "
    "cost variants practice"
)
SEEN = words(
    "fused-projection finfo-min sdpa float32-softmax separate-projections no-bias einsum buffer "
    "per-head-lists all-passed"
)
# Faults that are named from behaviour, without an entry in the catalogue.
BEHAVIOUR = words(
    "divisibility-unchecked divisibility-check-reversed divisibility-asserted "
    "divisibility-checked-late head-dim-floored "
    "nan-dead-rows uniform-dead-rows dead-rows-not-zero nan-dead-gradients dropout-always-on "
    "dropout-never-applied dropout-not-inverted dropout-renormalised dropout-misplaced "
    "dropout-shared "
    "dropout-rate-wrong dropout-repeats dropout-argument-missing dropout-gradient-wrong "
    "state-kept input-changed-in-place parameters-not-registered parameter-unused "
    "extra-parameter global-switch-turned tensor-left-behind ready-made-attention "
    "output-dtype-changed softmax-in-half view-on-non-contiguous fill-overflows-float16 "
    "dtypes-mixed exp-overflow mask-none-used weights-missing weights-averaged "
    "output-projection-missing gradient-cut mask-form-refused batch-squeezed length-squeezed "
    "length-limited fill-too-small double-softmax value-ignored wrong-cross-length "
    "future-leaks padding-leaks super-init-missing mask-tested-for-truth no-such-method "
    "in-place-breaks-backward divisibility-check-incomplete dead-output-zeroed "
    "training-weights-wrong dropout-zero-ignored training-mode-differs copy-shares-weights "
    "layers-rebuilt empty-input-mishandled second-gradient-cut identity-shortcut "
    "single-head-mishandled dead-rows-in-some-heads zero-taken-for-hidden sums-in-half "
    "overflow-in-half scores-clamped mask-form-misread copy-loses-state "
    "weights-by-name-misread key-heads-in-two-orders"
)
REASONS = {
    *(f"mistake:{name}" for name in (*CATALOGUE, *BEHAVIOUR)),
    *(f"area:{name}" for name in AREAS),
    *(f"seen:{name}" for name in SEEN),
}
IDS = list(load_questions("en"))
HAN = "[\u4e00-\u9fff]"


@functools.cache
def raw(name):
    return yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))


def sentences(question):
    return [question.question, *question.points, question.trap]


def all_sentences(language):
    for question in load_questions(language).values():
        for sentence in sentences(question):
            yield question.id, sentence


def topics(ids):
    return [load_questions("en")[name].topic for name in ids]


def reasons(ids):
    return [set(load_questions("en")[name].after) for name in ids]


def test_there_are_at_least_sixty():
    assert languages() == ("en", "zh")
    assert len(IDS) >= 60


def test_files_have_the_same_ids():
    assert list(raw("bank")) == list(raw("en")) == list(raw("zh"))


@pytest.mark.parametrize("name", ["bank", "en", "zh"])
def test_no_id_comes_twice(name):
    text = (FOLDER / f"{name}.yaml").read_text(encoding="utf-8")
    ids = re.findall(r"^([a-z0-9-]+):$", text, re.MULTILINE)
    assert ids == list(raw(name))


@pytest.mark.parametrize("name", IDS)
def test_facts_are_valid(name):
    facts = raw("bank")[name]
    assert list(facts) == ["level", "topic", "source", "after"]
    assert facts["level"] in LEVELS
    assert facts["topic"] in TOPICS
    assert len(facts["source"]) > 10
    assert "http" not in facts["source"]
    assert facts["after"]
    assert len(facts["after"]) == len(set(facts["after"]))
    assert set(facts["after"]) <= REASONS


@pytest.mark.parametrize("language", languages())
@pytest.mark.parametrize("name", IDS)
def test_words_are_complete(language, name):
    found = raw(language)[name]
    assert list(found) == ["question", "points", "trap"]
    assert 3 <= len(found["points"]) <= 5
    assert all(
        sentence == sentence.strip() != "" for sentence in (found["question"], found["trap"])
    )
    assert len(found["points"]) == len(raw("en")[name]["points"])


def test_every_topic_has_a_question():
    assert {question.topic for question in load_questions("en").values()} == TOPICS


@pytest.mark.parametrize("reason", sorted(REASONS))
def test_every_reason_has_a_question(reason):
    assert any(reason in question.after for question in load_questions("en").values())


def test_english_is_ascii_and_ends_its_sentences():
    found = list(all_sentences("en"))
    assert [name for name, sentence in found if not sentence.isascii()] == []
    assert [name for name, sentence in found if sentence[-1] not in ".?"] == []


def test_traps_begin_with_what_is_said():
    english, chinese = (load_questions(language).values() for language in ("en", "zh"))
    assert [one.id for one in english if not re.match(r"'.+[.]' \S", one.trap)] == []
    assert [one.id for one in chinese if not re.match(r"“.+。”\S", one.trap)] == []


def test_chinese_has_chinese_punctuation():
    beside = re.compile(rf"{HAN}[,;:?!.()\"']|[,;:?!()\"']{HAN}")
    found = list(all_sentences("zh"))
    assert [(name, beside.findall(text)) for name, text in found if beside.search(text)] == []
    assert [name for name, sentence in found if sentence[-1] not in "。？”"] == []


def test_chinese_sets_latin_words_apart():
    touching = re.compile(rf"{HAN}[A-Za-z0-9]|[A-Za-z0-9]{HAN}")
    found = [(name, touching.findall(text)) for name, text in all_sentences("zh")]
    assert [pair for pair in found if pair[1]] == []


@pytest.mark.parametrize(
    ("opening", "closing", "language"), [("(", ")", "en"), ("（", "）", "zh"), ("“", "”", "zh")]
)
def test_brackets_are_closed(opening, closing, language):
    unequal = [
        name for name, text in all_sentences(language) if text.count(opening) != text.count(closing)
    ]
    assert unequal == []


def test_question_is_read_whole():
    question = load_questions("en")["output-projection-linear"]
    assert question.id == "output-projection-linear"
    assert (question.level, question.topic) == ("first-round", "projections")
    assert "mistake:output-projection-unused" in question.after
    assert question.question == "Does the output projection make the layer more non-linear?"
    assert question.points[0].startswith("No: it is a linear map")
    assert question.trap.startswith("'The output projection adds non-linearity.' It is a matrix")


def test_languages_differ_in_words_only():
    for name, english in load_questions("en").items():
        chinese = load_questions("zh")[name]
        assert (english.level, english.topic, english.source, english.after) == (
            chinese.level,
            chinese.topic,
            chinese.source,
            chinese.after,
        )
        assert english.question != chinese.question


def test_unknown_language_is_refused():
    with pytest.raises(UsageError) as refused:
        load_questions("bank")
    assert refused.value.message.fields == {"wanted": "bank", "known": "en, zh"}


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        (
            ["mistake:missing-scale", "area:scaling"],
            ["why-scale", "initialisation", "memory-of-scores", "buffers"],
        ),
        (
            ["mistake:missing-scale", "mistake:nan-dead-rows", "area:all-masked-rows"],
            ["why-scale", "dead-rows", "initialisation", "gradient-through-mask"],
        ),
        ([], ["temperature", "memory-of-scores", "buffers", "dropout-inverted"]),
    ],
)
def test_choice_is_apt(after, expected):
    assert choose(after, seed=2026) == expected


def test_mistakes_come_before_areas_and_right_choices():
    after = ["seen:einsum", "area:divisibility", "mistake:dropout-always-on"]
    for seed in range(20):
        first, *others = reasons(choose(after, seed))
        assert "mistake:dropout-always-on" in first
        assert "area:divisibility" in others[0]
        assert "seen:einsum" in others[1]


def test_mistake_is_first_asked_about_in_plain_terms():
    for seed in range(20):
        assert choose(["mistake:missing-scale"], seed)[0] == "why-scale"


def test_mistake_brings_at_most_two():
    for seed, reason in itertools.product(range(5), sorted(REASONS)):
        if reason.startswith("mistake:"):
            assert 1 <= sum(reason in one for one in reasons(choose([reason], seed, 5))) <= 2


def test_two_mistakes_both_get_a_question():
    after = ["mistake:missing-scale", "mistake:dropout-always-on", "mistake:state-kept"]
    for seed in range(20):
        first = reasons(choose(after, seed))[:3]
        assert all(any(label in one for one in first) for label in after)


def test_right_choices_are_asked_about():
    for seed in range(20):
        found = reasons(choose(["seen:all-passed"], seed))
        assert "seen:all-passed" in found[0]


def test_nothing_seen_brings_first_round_questions():
    for seed in range(20):
        chosen = choose([], seed)
        assert {load_questions("en")[name].level for name in chosen} == {"first-round"}


def test_levels_narrow_the_choice():
    draw = random.Random(5)
    for seed in range(50):
        after = draw.sample(sorted(REASONS), 8)
        for level in LEVELS:
            chosen = choose(after, seed, 5, (level,))
            assert len(chosen) == 5
            assert {load_questions("en")[name].level for name in chosen} == {level}
        assert choose(after, seed, 5, LEVELS) == choose(after, seed, 5)


def test_no_topic_comes_twice():
    draw = random.Random(7)
    for seed in range(200):
        after = draw.sample(sorted(REASONS), draw.randrange(len(REASONS)))
        chosen = choose(after, seed, 5)
        assert len(chosen) == 5
        assert len(set(topics(chosen))) == 5


def test_every_question_can_be_chosen():
    alone = [[reason] for reason in sorted(REASONS)]
    chosen = (choose(after, seed) for after in alone for seed in range(20))
    assert set(itertools.chain.from_iterable(chosen)) == set(IDS)


@pytest.mark.parametrize(("count", "given"), [(-1, 3), (0, 3), (3, 3), (4, 4), (5, 5), (99, 5)])
def test_three_to_five_are_chosen(count, given):
    assert len(choose(["mistake:missing-scale"], 1, count)) == given


def test_same_seed_chooses_the_same():
    after = ["mistake:mask-inverted", "area:scaling", "seen:buffer", "seen:einsum"]
    assert choose(after, 3) == choose(set(after), 3) == choose(tuple(reversed(after)), 3)
    assert len({tuple(choose(after, seed)) for seed in range(20)}) > 5


@pytest.mark.parametrize(
    "after",
    [
        ["mistake:no-such", "area:", "seen", "", "first-round", "senior", ":"],
        ["missing-scale", "mistake:missing-scale ", "MISTAKE:missing-scale", "mistake:*"],
        ["mistake:\x1b[31m", "mistake:" + "x" * 100_000, "../en", "{seed}", "\ud800"],
        "mistake:missing-scale",
    ],
)
def test_unknown_reasons_are_ignored(after):
    assert choose(after, 11) == choose([], 11)
