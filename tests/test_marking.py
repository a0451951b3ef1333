"""Answers are read by words: however they are written, in either language, within bounds."""

import re

import pytest

from grader.drill.marking import (
    LONGEST,
    find_claim,
    find_point,
    parse_rule,
    read_answer,
)
from grader.drill.marking.spelling import split_words
from grader.drill.marking.words import FOLDER, LONGEST_SENTENCE
from grader.files import read_data


def raws(text):
    return [word.raw for word in split_words(text)]


def point(rule, text):
    return find_point(read_answer(text), [parse_rule(rule)])


def claim(rule, text):
    return find_claim(read_answer(text), [parse_rule(rule)])


@pytest.mark.parametrize(
    "text",
    [
        "sqrt(d_k)",
        "√d_k",
        "√(dk)",
        "\\sqrt{d_k}",
        "the square root of the head size",
        "the root of d_k",
        "根号 d_k",
        "根号下dk",
        "SQRT( head_dim )",
        "ｓｑｒｔ（ｄ＿ｋ）",
        "math.sqrt(self.head_dim)",
    ],
)
def test_root_is_read_however_it_is_written(text):
    assert point("sqrt hd|sqrt self hd", text) != ()


@pytest.mark.parametrize(
    "text", ["d_k^0.5", "d_k ** 0.5", "dk^(1/2)", "d_k**(-0.5)", "d_k 的平方根"]
)
def test_power_of_a_half_is_a_root(text):
    assert raws(text) == ["hd", "sqrt"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("non-linearity", ["nonlinear"]),
        ("Non linearity", ["nonlinear"]),
        ("非线性", ["nonlinear"]),
        ("[B, H, L, d_k]", ["b", "h", "l", "hd"]),
        ("B x H × L * d_k", ["b", "h", "l", "hd"]),
        ("x.view(B, H)", ["x", "view", "b", "h"]),
        ("65,504", ["65504"]),
        ("D²", ["d", "^", "2"]),
        ("1e-9", ["1e-9"]),
        ("masked_fill_(mask)", ["masked", "fill", "mask"]),
        ("don’t", ["dont"]),
        ("the model's", ["model"]),
        ("-∞", ["-", "infinity"]),
        ("scaled_dot_product_attention", ["sdpa"]),
        ("ｆｌｏａｔ１６", ["fp16"]),
        ("so\u200bft\u0301max", ["softmax"]),
        ("", []),
        ("\ud800", []),
    ],
)
def test_words_have_one_form(text, expected):
    assert raws(text) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("scales", "scaling"),
        ("normalised", "normalizing"),
        ("variances", "variance"),
        ("dropped", "drop"),
        ("queries", "query"),
        ("masks", "masked"),
        ("copies", "copied"),
        ("biases", "bias"),
        ("sums", "summed"),
    ],
)
def test_endings_do_not_matter(one, other):
    assert split_words(one)[0].stem == split_words(other)[0].stem


def test_quotes_are_the_words_of_the_answer():
    found = point("variance|方差 + hd", "Der  Ｖａｒｉａｎｃｅ，　grows with Head-Dim.")
    assert found == ("Ｖａｒｉａｎｃｅ", "Head-Dim")


def test_parts_may_stand_in_two_sentences_that_follow_each_other():
    rule = "variance + hd"
    assert point(rule, "The variance grows. It is d_k.") == ("variance", "d_k")
    assert point(rule, "The variance grows. So it is. It is d_k.") == ()


def test_speech_without_full_stops_is_cut_into_sentences():
    words = split_words("word " * (3 * LONGEST_SENTENCE))
    assert [word.sentence for word in words[:: LONGEST_SENTENCE + 1]] == [0, 1, 2]


def test_gap_is_bounded():
    assert point("sum .. 1", "they sum up to exactly one") == ("sum up to exactly one",)
    assert point("sum .. 1", "the sum of a b c d e f g is one") == ()


def test_beginning_of_a_word_is_enough_where_the_rule_says_so():
    assert point("saturat*", "saturation") == ("saturation",)
    assert point("saturate", "saturation") == ()


def test_part_that_must_not_stand_there():
    assert point("softmax + !dropout", "the softmax") == ("softmax",)
    assert point("softmax + !dropout", "the softmax and the dropout") == ()


def test_name_of_the_lexicon_stands_for_its_words():
    assert point("$wo", "再过输出投影") == ("输出投影",)


def test_chinese_word_is_not_found_inside_another():
    assert point("列", "沿序列方向") == ()
    assert point("列", "每列之和为 1") == ("列",)


@pytest.mark.parametrize(
    "text",
    [
        "It adds non-linearity.",
        "W_O adds some extra nonlinearity, I think.",
        "输出投影增加了非线性。",
        "W_O 会增加 non-linearity",
        "It mixes heads, not tokens, and it adds non-linearity.",
    ],
)
def test_claim_is_found(text):
    assert claim("add .. nonlinear|增加 .. nonlinear", text) != ()


@pytest.mark.parametrize(
    "text",
    [
        "It does not add non-linearity.",
        "Not because it adds non-linearity.",
        "It doesn't add any nonlinearity.",
        "It adds no non-linearity.",
        "It never adds nonlinearity at all.",
        "People say that it adds non-linearity, which is wrong.",
        "It adds non-linearity. That's a common misconception.",
        "It is a myth that W_O adds non-linearity.",
        "它不会增加非线性。",
        "并不是增加了非线性",
        "有人说它增加了非线性，这是错的。",
        "常说它增加非线性。这不对。",
        "I don't know whether it adds non-linearity.",
        "增不增加非线性我不知道",
    ],
)
def test_claim_that_is_denied_does_not_count(text):
    assert claim("add .. nonlinear|增加 .. nonlinear", text) == ()


@pytest.mark.parametrize(
    "text", ["", "   ", "I don't know.", "no idea", "不知道", "忘了。", "不清楚，方差吧"]
)
def test_who_does_not_know_has_said_little(text):
    assert point("know|idea|知道|忘|清楚", text) == ()


@pytest.mark.parametrize("line", ["variance + ", "variance||d", "*", "、", ".. d"])
def test_term_without_words_is_refused(line):
    with pytest.raises(ValueError, match="a term without words"):
        parse_rule(line)


def test_unknown_name_is_refused():
    with pytest.raises(KeyError, match="no-such"):
        parse_rule("$no-such")


@pytest.mark.parametrize(
    "text",
    [
        "a" * 100_000,
        "1," * 50_000,
        "not " * 25_000,
        "sum " * 25_000,
        "non-" * 25_000,
        "变" * 100_000,
        "\u0301" * 100_000,
        "ﷺ" * 100_000,
        "d_{" * 33_000,
        "<script>alert(1)</script>\x1b[31m" * 3_000,
    ],
    ids=lambda text: ascii(text[:8]),
)
def test_long_text_is_cut_and_read(text):
    answer = read_answer(text)
    assert answer.is_cut
    assert len(answer.text) == LONGEST
    assert all(word.end <= LONGEST for word in answer.words)
    assert find_claim(answer, [parse_rule("sum .. no such word + not")]) == ()


def test_every_name_of_the_lexicon_is_used():
    names = set(read_data(FOLDER / "lexicon.yaml"))
    rules = (FOLDER.parent / "rounds" / "rules.yaml", FOLDER.parent / "outlines" / "base.yaml")
    used = re.findall(r"\$([a-z-]+)", " ".join(path.read_text(encoding="utf-8") for path in rules))
    assert names == set(used)
