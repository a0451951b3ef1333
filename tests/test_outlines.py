"""The spoken version: four minutes for every exercise, and a transcript read by the same rules."""

import re

import pytest
import yaml

from grader.bank.loader import exercise_ids
from grader.drill.outlines import (
    SECONDS,
    describe_heard,
    headline,
    hear,
    load_base,
    load_rules,
    outline,
    point_text,
    slip_text,
    what_to_say,
)
from grader.drill.outlines.outline import FOLDER
from grader.errors import UsageError
from grader.questions import languages

HAN = "[\u4e00-\u9fff]"
EVERY = [(language, exercise) for language in languages() for exercise in exercise_ids()]
PARTS = ["setting", "projections", "heads", "scores", "masks", "output", "limits"]


def raw(name):
    return yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))


def talk(exercise, language):
    plan = outline(exercise)
    return " ".join(what_to_say(plan, part, language) for part in plan.parts)


def said_in(slip):
    return re.match(r"'(.+?)[.]?'|“(.+?)。?”", slip).group(1, 2)


@pytest.mark.parametrize("exercise", exercise_ids())
def test_every_exercise_has_four_minutes(exercise):
    plan = outline(exercise)
    assert plan.exercise == exercise
    assert plan.seconds == SECONDS == 240
    assert [part.id for part in plan.parts] == PARTS
    assert all(part.seconds >= 15 and part.points for part in plan.parts)
    assert 10 <= len(plan.points) <= 14
    assert len(set(plan.points)) == len(plan.points)
    assert len(plan.slips) >= 5


def test_exercises_differ_where_their_contracts_do():
    plain, causal, cross = map(
        outline, ("self-attention", "causal-self-attention", "cross-attention")
    )
    assert set(causal.points) - set(plain.points) == {"joined-inside"}
    assert set(cross.points) - set(plain.points) == {
        "two-sequences",
        "sources",
        "scores-cross",
        "source-mask",
    }
    assert "causal-cross" in cross.slips
    assert "causal-cross" not in plain.slips
    assert [part.seconds for part in plain.parts] == [25, 30, 25, 45, 50, 35, 30]
    assert [part.seconds for part in causal.parts] == [25, 30, 25, 45, 60, 35, 20]
    assert [part.seconds for part in cross.parts] == [35, 30, 15, 45, 50, 35, 30]


def test_what_is_said_is_the_exercise_s_own():
    plan = outline("cross-attention")
    scores = plan.parts[3]
    assert headline(scores, "en") == "Scores, and why they are scaled"
    assert what_to_say(plan, scores, "en").startswith(
        "q times k transposed gives [B, H, Lq, Lk]. A dot product of Dh terms"
    )
    assert headline(scores, "zh") == "score，以及为什么缩放"
    assert what_to_say(plan, scores, "zh").startswith("q 乘 k 的转置，得到 [B, H, Lq, Lk]。")
    assert "[B, H, L, L]" in what_to_say(outline("self-attention"), scores, "en")


@pytest.mark.parametrize("language", languages())
def test_words_are_complete(language):
    words, base = raw(language), load_base()
    points = [point for part in base["parts"].values() for point in part["points"]]
    assert list(words) == ["parts", "points", "slips", "heard"]
    assert list(words["parts"]) == list(base["parts"]) == PARTS
    assert list(words["points"]) == points
    assert list(words["slips"]) == list(base["slips"])
    assert set(load_rules()) == {*points, *base["slips"]}


def test_languages_have_the_same_keys_and_placeholders():
    english, chinese = raw("en"), raw("zh")
    for part in PARTS:
        assert list(english["parts"][part]) == list(chinese["parts"][part])
    for key, said in english["heard"].items():
        assert re.findall(r"{(\w+)}", said) != [] or key in ("own", "between")
        assert set(re.findall(r"{(\w+)}", said)) == set(
            re.findall(r"{(\w+)}", chinese["heard"][key])
        )


def test_language_without_words_is_refused():
    with pytest.raises(UsageError):
        point_text("sizes", "base")


def test_sentences_are_set_as_their_language_asks():
    beside = re.compile(rf"{HAN}[,;:?!()\"']|[,;:?!()\"']{HAN}|{HAN}[A-Za-z0-9]|[A-Za-z0-9]{HAN}")
    english, chinese = raw("en"), raw("zh")
    for part in PARTS:
        for key, said in english["parts"][part].items():
            assert said.isascii()
            assert key == "headline" or said.endswith(".")
            assert beside.search(chinese["parts"][part][key]) is None
    for kind in ("points", "slips"):
        assert all(said.isascii() and said.endswith(".") for said in english[kind].values())
        assert [k for k, said in chinese[kind].items() if beside.search(said)] == []
        assert all(said.endswith("。") for said in chinese[kind].values())


@pytest.mark.parametrize(("language", "exercise"), EVERY)
def test_the_talk_as_it_is_suggested_makes_every_point(language, exercise):
    heard = hear(outline(exercise), talk(exercise, language))
    assert heard.missed == ()
    assert heard.slips == {}


@pytest.mark.parametrize(("language", "exercise"), EVERY)
def test_the_talk_is_understood_without_punctuation(language, exercise):
    text = re.sub(r"[.,;:。，；：]", " ", talk(exercise, language)).lower()
    heard = hear(outline(exercise), text)
    assert len(heard.missed) <= 1
    assert heard.slips == {}


@pytest.mark.parametrize(("language", "exercise"), EVERY)
def test_points_and_slips_in_their_own_words_are_found(language, exercise):
    plan = outline(exercise)
    for point in plan.points:
        assert point in hear(plan, point_text(point, language)).covered
    for slip in plan.slips:
        said = next(filter(None, said_in(slip_text(slip, language))))
        assert slip in hear(plan, said).slips


def test_the_talk_about_another_exercise_misses_what_is_its_own():
    heard = hear(outline("cross-attention"), talk("self-attention", "en"))
    assert set(heard.missed) == {"two-sequences", "sources", "scores-cross", "source-mask"}


SPOKEN = """
Okay so x is batch by length by d model, I have h heads, each of head dim d over h, and I assert in
the constructor that it divides evenly. Then one fused linear gives me q, k and v, that's the same
as three separate ones. I view that as b l h d and swap the axes so that heads come second. Scores
are q k transposed, shape b h l l, divided by the square root of d k because otherwise the variance
of the dot product grows and softmax saturates. For masks, true means you may look; I combine the
causal mask and the padding mask with an and. If an entire row is masked you'd get nan, so I fill
with a finite number and zero the weights after softmax. Then weights times v, transpose back,
contiguous, view to b l d, and the output projection mixes heads; it's linear. For long sequences
the l by l matrix is the bottleneck, so in production I'd call flash attention.
"""


def test_a_talk_in_free_words_is_understood():
    heard = hear(outline("self-attention"), SPOKEN)
    assert heard.missed == ()
    assert heard.slips == {}
    assert "saturates" in heard.covered["saturation"]


def test_what_was_heard_is_worded_as_a_suggestion():
    plan = outline("self-attention")
    heard = hear(plan, "H must divide D. The output projection adds non-linearity.")
    assert list(describe_heard(heard, "en")) == [
        "It looks as if 1 of 14 points were said.",
        "Seems to be said: H must divide D, and that is checked at construction. "
        "(by your words: divide)",
        *(
            f"Seems to be missing: {point_text(point, 'en')}"
            for point in plan.points
            if point != "divisible"
        ),
        "It looks as if this was said: 'The output projection adds non-linearity.' It is a linear "
        "map; the softmax is what is not linear here. "
        "(by your words: output projection, adds non-linearity)",
        "The rules look for words and do not understand; the marks are yours.",
    ]


def test_nothing_said_is_nothing_heard():
    plan = outline("causal-self-attention")
    for text in ("", "不知道", "I don't know. " * 2_000):
        heard = hear(plan, text)
        assert heard.covered == heard.slips == {}
        assert heard.missed == plan.points
    first, *_, cut, _own = describe_heard(heard, "zh")
    assert first == "看起来说到了 14 个要点中的 0 个。"
    assert cut == "文字较长，只读了前 8,000 个字符。"
